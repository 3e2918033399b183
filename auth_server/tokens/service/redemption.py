"""The token endpoint: codes and refresh tokens become tokens, each once.

The order of redemption is fixed: the client is authenticated first; then the code is looked up by its
hash; client, address, expiry and verifier are checked; only then is it claimed, in one statement that
succeeds once; and tokens are made in a transaction that has checked that the family is not revoked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from auth_server.clients.errors import UnauthorizedClient
from auth_server.clients.models import Client
from auth_server.clients.schemas import GrantType
from auth_server.sessions.service import SessionService
from auth_server.tokens import rules
from auth_server.tokens.errors import (
    CodeReplayed,
    InvalidDpopProof,
    InvalidGrant,
    RefreshReplayed,
    UnsupportedGrantType,
    WrongVerifier,
)
from auth_server.tokens.repository import RefreshTokenRepository
from auth_server.tokens.schemas import (
    Answer,
    CodePayload,
    Family,
    RefreshState,
    RevokeReason,
    StoredCode,
    TokenRequest,
)
from auth_server.tokens.service.grants import GRACE, GrantService
from auth_server.tokens.service.successors import Successors
from auth_server.tokens.store import CodeStore
from shared.kernel.clock import Clock
from shared.kernel.secrets import digest_of

Exchange = Callable[[Client, TokenRequest], Awaitable[Answer]]

_GRANT_TYPES = {grant_type.value: grant_type for grant_type in GrantType}


def admitted(client: Client, asked: TokenRequest) -> GrantType:
    """What the client wants to exchange, and may. Raises OAuthError."""
    wanted = _GRANT_TYPES.get(asked.form.require("grant_type"))
    if wanted is None:
        raise UnsupportedGrantType
    if wanted not in client.grant_types:
        raise UnauthorizedClient
    if client.requires_dpop and asked.key_thumbprint is None:
        raise InvalidDpopProof
    return wanted


@dataclass(frozen=True, slots=True)
class RedemptionService:
    """Exchanges inside one transaction."""

    families: GrantService
    refresh_tokens: RefreshTokenRepository
    sessions: SessionService
    successors: Successors
    now: Clock
    #: By grant type, what makes the exchange of another feature.
    others: Mapping[str, Callable[[], Exchange]] = field(default_factory=dict)

    async def exchange(self, client: Client, asked: TokenRequest) -> Answer:
        """Tokens for an authenticated client. Raises OAuthError."""
        wanted = admitted(client, asked)
        if wanted is GrantType.AUTHORIZATION_CODE:
            return await self._redeem(client, asked)
        if wanted is GrantType.REFRESH_TOKEN:
            return await self._refresh(client, asked)
        return await self.others[wanted]()(client, asked)

    async def give(self, family: Family, client: Client, key: str | None, nonce: str | None = None) -> Answer:
        """The first answer of a family, with a refresh token where the family outlives the session."""
        grant = family.grant
        answer = await self.successors.minter.answer(family, client, grant.scopes, nonce=nonce, key=key)
        if grant.offline and GrantType.REFRESH_TOKEN in client.grant_types:
            text, token = self.successors.new(grant, client, key)
            await self.refresh_tokens.add(token, None)
            answer["refresh_token"] = text
        return answer

    async def _redeem(self, client: Client, asked: TokenRequest) -> Answer:
        payload = asked.spent or await self._spend(client, asked)
        family = await self.take_family(payload.grant_id)
        return await self.give(family, client, asked.key_thumbprint, payload.nonce)

    async def _spend(self, client: Client, asked: TokenRequest) -> CodePayload:
        """What the code stood for, which nobody can use any more. Raises InvalidGrant and what is one."""
        form = asked.form
        code, verifier = form.require("code"), form.require("code_verifier")
        found = await self._find_code(code, client)
        payload = found.payload
        if not rules.is_at_address(payload, form.get("redirect_uri")):
            raise InvalidGrant
        if not found.taken and payload.expires_at <= self.now():
            raise InvalidGrant
        if payload.key_thumbprint not in {None, asked.key_thumbprint}:
            raise InvalidGrant
        if not rules.verifies(verifier, payload.code_challenge):
            await self._refuse_verifier(code, found)
        if found.taken or not await self._store_of(code).take(digest_of(code), self.now()):
            await self.families.revoke(payload.grant_id, RevokeReason.CODE_REPLAYED)
            raise CodeReplayed
        return payload

    async def _find_code(self, code: str, client: Client) -> StoredCode:
        """The client's own code. Raises InvalidGrant, or CodeReplayed where only the family remembers it."""
        digest, store = digest_of(code), self.families.codes.of(code)
        found = await store.find(digest) if store is not None else None
        if found is None:
            grant = await self.families.grants.find_of_spent_code(digest, client.id)
            if grant is not None:
                await self.families.revoke(grant.id, RevokeReason.CODE_REPLAYED)
                raise CodeReplayed
            raise InvalidGrant
        if found.payload.client_id != client.id:
            raise InvalidGrant
        return found

    def _store_of(self, code: str) -> CodeStore:
        store = self.families.codes.of(code)
        if store is None:
            raise InvalidGrant
        return store

    async def _refuse_verifier(self, code: str, found: StoredCode) -> None:
        store, digest = self._store_of(code), digest_of(code)
        if not found.taken and await store.note_failure(digest) >= rules.MOST_FAILURES:
            await self.families.revoke(found.payload.grant_id, RevokeReason.CODE_GUESSED)
        raise WrongVerifier

    async def take_family(self, ident: UUID) -> Family:
        """The family whose code is used now, while it and its session are alive. Raises InvalidGrant.

        It is locked: what this transaction gives cannot outlive a revocation that comes at the same time.
        """
        family = await self.families.grants.find_live_locked(ident, self.now())
        if family is None or not self.sessions.in_use(family.grant.session_id, family.session_used_at):
            raise InvalidGrant
        await self.families.grants.note_code_used(ident, self.now())
        return family

    async def _refresh(self, client: Client, asked: TokenRequest) -> Answer:
        digest = digest_of(asked.form.require("refresh_token"))
        # One transaction at a time for each family: what is read here stays true to its end.
        found = await self.refresh_tokens.find_locked(digest, self.now())
        if found is None or found[1].grant.client_id != client.id:
            raise InvalidGrant
        row, family = found
        if row.key_thumbprint not in {None, asked.key_thumbprint}:
            raise InvalidGrant
        if row.consumed_at is not None:
            return await self._answer_again(row)
        if row.expires_at <= self.now():
            raise InvalidGrant
        return await self._rotate(row, family, client, asked)

    async def _answer_again(self, row: RefreshState) -> Answer:
        """The same answer within the grace, while its refresh token is unused. Raises RefreshReplayed."""
        successor = await self.refresh_tokens.find_successor(row.digest)
        unused = successor is not None and successor.consumed_at is None
        recent = row.consumed_at is not None and self.now() - row.consumed_at <= GRACE
        if not (unused and recent and row.sealed_answer):
            await self.families.revoke(row.grant_id, RevokeReason.REFRESH_REPLAYED)
            raise RefreshReplayed
        return self.successors.again(row, row.sealed_answer)

    async def _rotate(self, row: RefreshState, family: Family, client: Client, asked: TokenRequest) -> Answer:
        follows = await self.successors.follow(row.digest, family, client, asked)
        if not await self.refresh_tokens.claim(row.digest, self.now(), follows.sealed):
            raise InvalidGrant
        await self.refresh_tokens.add(follows.token, row.digest)
        return follows.answer
