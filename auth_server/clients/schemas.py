"""Registrations of clients."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from auth_server.accounts.schemas import printable
from auth_server.signing_keys.schemas import Algorithm
from shared.kernel.principal import Role, Scope


class OpenIdScope(StrEnum):
    """Scopes that say what is told of the person, beside those of the API."""

    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    OFFLINE_ACCESS = "offline_access"
    #: Tells which part of the network the person has proved to hold: `asn`, `mntner` and `dn42`.
    DN42 = "dn42"


class GrantType(StrEnum):
    """What a client exchanges for tokens."""

    AUTHORIZATION_CODE = "authorization_code"
    REFRESH_TOKEN = "refresh_token"  # noqa: S105 - a word of the protocol
    DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
    CLIENT_CREDENTIALS = "client_credentials"


#: In the order in which they are advertised and shown.
ALL_SCOPES: tuple[str, ...] = (*(s.value for s in OpenIdScope), *(s.value for s in Scope))
#: People read it where they are asked, so it has nothing that hides or turns letters.
ClientName = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(printable)]
#: As an access token names it: an address, or a name of its own.
Audience = Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[\x21-\x7e]+$")]
_BOTH = (GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN)


class ClientRegistration(BaseModel):
    """What is kept of a client; the rules of registration hold for every one, also for our own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x20-\x7e]+$")]
    name: ClientName
    #: A program on the person's own machine (RFC 8252): no secret, loopback with any port.
    native: bool = False
    #: Ours: no consent is asked where it can keep a secret.
    first_party: bool = False
    #: None where people are never sent anywhere: devices, and services that act on their own.
    redirect_uris: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    post_logout_redirect_uris: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    backchannel_logout_uri: str | None = None
    grant_types: Annotated[tuple[GrantType, ...], Field(max_length=8)] = _BOTH
    scopes: Annotated[tuple[str, ...], Field(max_length=64)] = (OpenIdScope.OPENID, OpenIdScope.PROFILE)
    #: Web pages that call the token endpoint from a browser.
    origins: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    #: A resource server may introspect the tokens that are meant for it.
    audiences: Annotated[tuple[Audience, ...], Field(max_length=20)] = ()
    id_token_signed_response_alg: Algorithm = Algorithm.ES256
    #: JWKs for `private_key_jwt`, instead of a secret.
    public_keys: Annotated[tuple[dict[str, Any], ...], Field(max_length=8)] = ()
    #: What it may do on its own, by client credentials.
    role: Role | None = None
    requires_pushed: bool = False
    requires_dpop: bool = False


def _addressable(value: str) -> str:
    """The id, where the addresses of its own pages lead to it and to nothing else."""
    if value != value.strip() or value in {".", "..", "new"} or value.endswith(("/secret", "/enabled")):
        message = "has no spaces around it, is not “new”, and does not end in /secret or /enabled"
        raise PydanticCustomError("client_id_refused", message)
    return value


class ClientCreate(ClientRegistration):
    """A client as an administrator registers it."""

    client_id: Annotated[
        str, Field(min_length=1, max_length=128, pattern=r"^[\x20-\x7e]+$"), AfterValidator(_addressable)
    ]
    #: Whether it can keep a secret; it is then given one, unless it brings public keys.
    confidential: bool = True

    def registration(self) -> ClientRegistration:
        """What is kept of it."""
        return ClientRegistration.model_validate(self.model_dump(exclude={"confidential"}))


class ClientChange(BaseModel):
    """What an administrator changes; what is not named stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClientName | None = None
    redirect_uris: Annotated[tuple[str, ...] | None, Field(max_length=20)] = None
    post_logout_redirect_uris: Annotated[tuple[str, ...] | None, Field(max_length=20)] = None
    backchannel_logout_uri: str | None = None
    grant_types: Annotated[tuple[GrantType, ...] | None, Field(max_length=8)] = None
    scopes: Annotated[tuple[str, ...] | None, Field(max_length=64)] = None
    origins: Annotated[tuple[str, ...] | None, Field(max_length=20)] = None
    audiences: Annotated[tuple[Audience, ...] | None, Field(max_length=20)] = None
    public_keys: Annotated[tuple[dict[str, Any], ...] | None, Field(max_length=8)] = None
    role: Role | None = None
    requires_pushed: bool | None = None
    requires_dpop: bool | None = None
    enabled: bool | None = None


class ClientRead(BaseModel):
    """A client as administrators see it."""

    client_id: str
    name: str
    native: bool
    first_party: bool
    redirect_uris: list[str]
    post_logout_redirect_uris: list[str]
    backchannel_logout_uri: str | None
    grant_types: list[str]
    scopes: list[str]
    origins: list[str]
    audiences: list[str]
    id_token_signed_response_alg: str
    public_keys: list[dict[str, Any]]
    role: Role | None
    requires_pushed: bool
    requires_dpop: bool
    confidential: bool
    created_at: datetime
    disabled_at: datetime | None


class ClientMade(ClientRead):
    """A new client, with its secret, which is shown this once."""

    client_secret: str | None


class ClientSecret(BaseModel):
    """A fresh secret, which is shown this once."""

    client_secret: str
