"""Why the agent cannot do what it was asked, one sentence each for the person at the host."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class StateDirectoryUnusable(AppError):
    """The agent's state directory cannot be used."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "agent_state_unusable"


class AgentAlreadyRunning(AppError):
    """Another agent runs on this state directory."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "agent_already_running"


class NotEnrolled(AppError):
    """The agent has no token yet. Enrol it first."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "agent_not_enrolled"


class EnrolmentRefused(AppError):
    """The server refused the enrolment."""

    kind: ClassVar[Kind] = Kind.FORBIDDEN
    code: ClassVar[str] = "agent_enrolment_refused"


class ServerUnreachable(AppError):
    """The control server does not answer."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "agent_server_unreachable"


class AgentDidNotStart(AppError):
    """The agent ended right after its start; its log says why."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "agent_did_not_start"
