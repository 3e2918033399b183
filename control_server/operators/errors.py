"""Refusals of the portal's sign-in, of access tokens and of acts that need a fresh proof."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class SessionLinkRefused(AppError):
    """The link is unknown, used or too old. Make a new one with `routeloom control session-link`."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "session_link_refused"
    #: An attempt is audited although it is refused.
    rolls_back: ClassVar[bool] = False


class SignInRefused(AppError):
    """The sign-in could not be finished: it is too old, used, or not from this browser. Sign in again."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "sign_in_refused"


class SignInDeclined(AppError):
    """The sign-in was not confirmed. Nothing was changed; sign in again."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "sign_in_declined"


class AuthAway(AppError):
    """The sign-in service does not answer. Try again shortly."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "auth_unavailable"


class TokenNotGood(AppError):
    """The token is not one that this service accepts."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "token_not_good"


class AccessTokenRefused(AppError):
    """The access token has expired, was revoked, or is not for this service. Sign in again."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "access_token_refused"


class OwnerShutOut(AppError):
    """The account that this access token belongs to is disabled or gone."""

    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
    code: ClassVar[str] = "api_token_owner_shut_out"


class LogoutTokenRefused(AppError):
    """The logout token is not good."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "logout_token_refused"


class StepUpRequired(AppError):
    """A fresh proof is needed that it is you. Confirm it, then repeat the step."""

    kind: ClassVar[Kind] = Kind.FORBIDDEN
    code: ClassVar[str] = "step_up_required"


class StepUpRefused(AppError):
    """Somebody else signed in, or the proof is not fresh. Nothing was changed."""

    kind: ClassVar[Kind] = Kind.FORBIDDEN
    code: ClassVar[str] = "step_up_refused"
