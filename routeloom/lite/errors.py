"""Why Lite does not start: one sentence each."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class PortTaken(AppError):
    """The port is in use by another program."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "port_taken"


class NoLoopback(AppError):
    """The host has neither 127.0.0.1 nor ::1; bring its loopback up with `ip link set lo up`."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "no_loopback"


class PublicUrlRefused(AppError):
    """The public address is not one that passkeys and cookies work at."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "public_url_refused"


class HomeNotWritable(AppError):
    """The state directory cannot be written."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "home_not_writable"


class HomeNotOurs(AppError):
    """The state directory belongs to something else."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "home_not_ours"


class StillStarting(AppError):
    """The service still starts."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "still_starting"
