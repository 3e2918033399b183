"""Refusals about sessions and sign-in in general."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Forbidden, Kind, NotFound


class SessionNotFound(NotFound):
    """There is no such session, or it has ended."""

    code = "session_not_found"


class StepUpNeeded(Forbidden):
    """Confirm with your passkey first: the last time is more than five minutes ago."""

    code = "step_up_needed"


class SignInThrottled(AppError):
    """Too many failed attempts. Wait, then try again."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "sign_in_throttled"
