"""Registrations of clients."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from auth_server.signing_keys.schemas import Algorithm
from shared.kernel.principal import Scope


class OpenIdScope(StrEnum):
    """Scopes that say what is told of the person, beside those of the API."""

    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    OFFLINE_ACCESS = "offline_access"


class GrantType(StrEnum):
    """What a client exchanges for tokens."""

    AUTHORIZATION_CODE = "authorization_code"
    REFRESH_TOKEN = "refresh_token"  # noqa: S105 - a word of the protocol


#: In the order in which they are advertised and shown.
ALL_SCOPES: tuple[str, ...] = (*(s.value for s in OpenIdScope), *(s.value for s in Scope))
_BOTH = (GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN)


class ClientRegistration(BaseModel):
    """What is kept of a client; the rules of registration hold for every one, also for our own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x20-\x7e]+$")]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    #: A program on the person's own machine (RFC 8252): no secret, loopback with any port.
    native: bool = False
    #: Ours: no consent is asked where it can keep a secret.
    first_party: bool = False
    redirect_uris: Annotated[tuple[str, ...], Field(min_length=1, max_length=20)]
    post_logout_redirect_uris: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    backchannel_logout_uri: str | None = None
    grant_types: tuple[GrantType, ...] = _BOTH
    scopes: tuple[str, ...] = (OpenIdScope.OPENID, OpenIdScope.PROFILE)
    #: Web pages that call the token endpoint from a browser.
    origins: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    #: A resource server may introspect the tokens that are meant for it.
    audiences: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    id_token_signed_response_alg: Algorithm = Algorithm.ES256
