"""Refusals about probes."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from shared.kernel.errors import AppError, Forbidden, Kind, NotFound

_TRY_AGAIN = timedelta(seconds=5)


class ProbeNotFound(NotFound):
    """No probe has this id."""

    code: ClassVar[str] = "probe_not_found"


class NoAgentOnline(AppError):
    """None of the requested nodes has an agent that is connected."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "probe_no_agent_online"


class ProbeFinished(AppError):
    """The probe has ended already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "probe_finished"


class NotYourProbe(Forbidden):
    """Somebody else started this probe; only they or an operator can cancel it."""

    code: ClassVar[str] = "probe_not_yours"


class ProbeLimitReached(AppError):
    """Too many probes run at this moment."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "probe_limit_fleet"

    def __init__(self, detail: str | None = None) -> None:
        """Ask for another try soon: probes are short."""
        super().__init__(detail, retry_after=_TRY_AGAIN)


class CallerBusy(ProbeLimitReached):
    """You run as many probes as you may; wait until one ends, or cancel one."""

    code: ClassVar[str] = "probe_limit_user"


class NodeBusy(ProbeLimitReached):
    """The node runs as many probes as it may."""

    code: ClassVar[str] = "probe_limit_node"


class TargetBusy(ProbeLimitReached):
    """As many probes as may be aim at this target already."""

    code: ClassVar[str] = "probe_limit_target"


class TooManyViewers(AppError):
    """As many people as may be watch this probe already."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "probe_too_many_viewers"

    def __init__(self) -> None:
        """Ask for another try soon."""
        super().__init__(retry_after=_TRY_AGAIN)


class OutputRefused(AppError):
    """Nothing more is accepted for this probe from this node."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "probe_output_refused"


class ProbeUnknown(OutputRefused):
    """The node has no such probe."""

    code: ClassVar[str] = "probe_unknown"
