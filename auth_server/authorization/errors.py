"""Refusals of the authorization endpoint: a page where nobody can be trusted, else a redirect."""

from __future__ import annotations

from typing import ClassVar

from auth_server.clients.errors import OAuthError
from auth_server.clients.rules.addresses import with_parameters
from shared.kernel.errors import AppError, Forbidden, Kind


class AuthorizationRefused(AppError):
    """The request names no known application, or an address that it did not register."""

    code: ClassVar[str] = "authorization_refused"


class PushRefused(OAuthError):
    """The pushed request is not one that could be shown to a person."""

    code: ClassVar[str] = "pushed_request_refused"

    def __init__(self, error: str, description: str) -> None:
        """What the client would have been told at its redirect address."""
        super().__init__(description)
        self.error = error


class PushTooLarge(OAuthError):
    """The pushed request is larger than any honest one (RFC 9126, section 2.3)."""

    kind = Kind.TOO_LARGE
    code = "pushed_request_too_large"


class ConsentExpired(AppError):
    """The question is answered already, too old, or was put to somebody else. Start again."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "consent_expired"


class ConsentForged(Forbidden):
    """The answer does not fit the question that was put."""

    code = "consent_forged"


class SentBack(AppError):
    """The client is told of the refusal at its registered address."""

    code: ClassVar[str] = "authorization_sent_back"

    def __init__(self, redirect_uri: str, parameters: dict[str, str]) -> None:
        """Where to, and what is said there."""
        super().__init__()
        self.told = parameters
        self.location = with_parameters(redirect_uri, parameters)


class SentBackAndKept(SentBack):
    """The person said no, and that is written down."""

    code: ClassVar[str] = "authorization_denied"
    rolls_back: ClassVar[bool] = False
