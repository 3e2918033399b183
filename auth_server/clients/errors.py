"""Refusals in the words of OAuth (RFC 6749, section 5.2), and those about registrations."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, InvalidInput, Kind, NotFound


class OAuthError(AppError):
    """The request cannot be carried out."""

    code: ClassVar[str] = "oauth_refused"
    #: The word of the protocol; several refusals share one.
    error: str = "invalid_request"


class InvalidRequest(OAuthError):
    """The request lacks a parameter, repeats one, or has one that is not valid."""

    code = "invalid_request"


class InvalidClient(OAuthError):
    """The client is unknown or could not be authenticated."""

    kind = Kind.UNAUTHENTICATED
    code = "invalid_client"
    error = "invalid_client"


class UnauthorizedClient(OAuthError):
    """The client may not use this grant."""

    code = "unauthorized_client"
    error = "unauthorized_client"


class ClientThrottled(OAuthError):
    """Too many failed attempts. Wait, then try again."""

    kind = Kind.THROTTLED
    code = "client_throttled"
    error = "slow_down"


class ServerUnavailable(OAuthError):
    """A part of the server does not answer. Nothing was changed; try again."""

    kind = Kind.UNAVAILABLE
    code = "temporarily_unavailable"
    error = "temporarily_unavailable"


class RegistrationRefused(InvalidInput):
    """The registration of the client is not acceptable."""

    code = "client_registration_refused"


class ClientNotFound(NotFound):
    """There is no such client."""

    code = "client_not_found"


class ClientExists(AppError):
    """A client of this id is registered already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "client_exists"


class ClientProtected(AppError):
    """The client is part of the installation and is not changed by hand."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "client_protected"
