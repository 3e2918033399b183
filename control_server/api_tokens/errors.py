"""Refusals of personal access tokens."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound, Unauthenticated


class ApiTokenRefused(Unauthenticated):
    """The access token is unknown, revoked or expired."""

    code: ClassVar[str] = "api_token_refused"


class ApiTokenNotFound(NotFound):
    """You have no access token with this id."""

    code: ClassVar[str] = "api_token_not_found"


class ApiTokenEnded(AppError):
    """The access token is revoked or expired already; make a new one."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "api_token_ended"


class ApiTokenThrottled(AppError):
    """The access token has made too many requests in this minute."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "api_token_throttled"


class ApiTokenLockedOut(AppError):
    """Too many access tokens from this address were refused. Wait, then use a good one."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "api_token_locked_out"
