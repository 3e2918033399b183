"""Why a pass over the desired state failed; each becomes an entry of the apply result."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class HostToolMissing(AppError):
    """A program that the agent needs is not installed on this host."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "host_tool_missing"


class HostCommandFailed(AppError):
    """A command on this host failed."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "host_command_failed"


class ConfigurationRefused(AppError):
    """BIRD does not accept the rendered configuration; the last good one goes on."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "configuration_refused"


class ConfigurationNotRunning(AppError):
    """BIRD accepted the configuration and runs another one."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "configuration_not_running"


class ControllerLost(AppError):
    """With the new configuration the controller cannot be reached, so it was taken back."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "controller_lost"


class FilesNotWritten(AppError):
    """The configuration could not be written to disk."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "files_not_written"


class SecretUnreadable(AppError):
    """A sealed secret cannot be opened with this node's key. Enter it again."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "secret_unreadable"
