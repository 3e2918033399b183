"""What codes and grants are made of, and the answers of the token endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from auth_server.clients.rules.parameters import Parameters

#: The JSON object of a token or introspection response.
Answer = dict[str, Any]


class RevokeReason(StrEnum):
    """Why a grant was revoked."""

    CODE_REPLAYED = "code_replayed"
    CODE_GUESSED = "code_guessed"
    REFRESH_REPLAYED = "refresh_replayed"
    REVOKED_BY_CLIENT = "revoked_by_client"
    CONSENT_WITHDRAWN = "consent_withdrawn"
    SESSION_ENDED = "session_ended"
    ACCOUNT_DISABLED = "account_disabled"
    CREDENTIALS_RESET = "credentials_reset"
    #: The person does not hold the maintainer any more that the client was told of.
    PROOF_WITHDRAWN = "proof_withdrawn"
    CLIENT_DISABLED = "client_disabled"


@dataclass(frozen=True, slots=True)
class WantedGrant:
    """What a person agreed to, as the authorization request named it."""

    client_id: str
    scopes: tuple[str, ...]
    redirect_uri: str
    redirect_uri_named: bool
    code_challenge: str
    nonce: str | None
    #: The key that the code is bound to.
    key_thumbprint: str | None = None


class LiveAccount(NamedTuple):
    """Whose a family is, as of the statement that read it."""

    id: UUID
    name: str
    display_name: str
    role: str


class LiveGrant(NamedTuple):
    """A family that is not over, as of the statement that read it."""

    id: UUID
    client_id: str
    session_id: UUID
    scopes: list[str]
    offline: bool
    auth_time: datetime
    amr: list[str]
    expires_at: datetime


class Family(NamedTuple):
    """A grant that is alive, and whose it is."""

    grant: LiveGrant
    account: LiveAccount
    #: When its browser session was last used by what SQL knows; None where that session is over.
    session_used_at: datetime | None = None


class RefreshState(NamedTuple):
    """A refresh token as it is now."""

    digest: str
    grant_id: UUID
    key_thumbprint: str | None
    created_at: datetime
    expires_at: datetime
    consumed_at: datetime | None
    sealed_answer: str | None


@dataclass(frozen=True, slots=True)
class Presented:
    """An access token as it was shown, and the key that came with it."""

    token: str
    key_thumbprint: str | None = None


@dataclass(frozen=True, slots=True)
class CodePayload:
    """What a code stands for; a store keeps it under the code's hash."""

    grant_id: UUID
    client_id: str
    redirect_uri: str
    redirect_uri_named: bool
    code_challenge: str
    nonce: str | None
    created_at: datetime
    expires_at: datetime
    key_thumbprint: str | None = None


class StoredCode(NamedTuple):
    """A code as its store has it."""

    payload: CodePayload
    #: A tombstone: it was taken before.
    taken: bool
    failures: int


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """What an authenticated client sent to the token endpoint, and the key that it proved."""

    form: Parameters
    key_thumbprint: str | None = None
    #: The code that was spent for this request already, once everything about it was found right.
    spent: CodePayload | None = None


@dataclass(frozen=True, slots=True)
class EndOfSession:
    """What the logout endpoint decided."""

    #: Ask the person first.
    confirm: bool
    #: Whether the browser's session ends now.
    ends: bool
    client_id: str | None = None
    #: Where to go afterwards, registered by the client; None for a page of ours.
    redirect_uri: str | None = None
    state: str | None = None
