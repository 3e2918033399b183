"""Refusals about sessions and sign-in in general."""

from __future__ import annotations

from shared.kernel.errors import Forbidden, NotFound


class SessionNotFound(NotFound):
    """There is no such session, or it has ended."""

    code = "session_not_found"


class StepUpNeeded(Forbidden):
    """Confirm with your passkey first: the last time is more than five minutes ago."""

    code = "step_up_needed"
