"""The token endpoint: codes and refresh tokens become tokens, each once.

The order of redemption is fixed: the client is authenticated first; then the code is looked up by its
hash; client, address, expiry and verifier are checked; only then is it claimed, in one statement that
succeeds once; and tokens are made in a transaction that has checked that the family is not revoked.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from auth_server.accounts.models import Account
from auth_server.clients.errors import UnauthorizedClient
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import Parameters
from auth_server.clients.schemas import GrantType
from auth_server.sessions.service import SessionService
from auth_server.tokens import rules
from auth_server.tokens.errors import (
    CodeReplayed,
    InvalidGrant,
    InvalidScope,
    RefreshReplayed,
    UnsupportedGrantType,
    WrongVerifier,
)
from auth_server.tokens.models import Grant, RefreshToken
from auth_server.tokens.repository import RefreshTokenRepository
from auth_server.tokens.schemas import Answer, RevokeReason, StoredCode
from auth_server.tokens.service.grants import GRACE, GrantService
from auth_server.tokens.service.minting import Minter
from auth_server.tokens.store import CodeStore
from shared.kernel.clock import Clock
from shared.kernel.secrets import digest_of, mint

Family = tuple[Grant, Account]


@dataclass(frozen=True, slots=True)
class RedemptionService:
    """Exchanges inside one transaction."""

    families: GrantService
    refresh_tokens: RefreshTokenRepository
    sessions: SessionService
    minter: Minter
    now: Clock

    async def exchange(self, client: Client, form: Parameters) -> Answer:
        """Tokens for an authenticated client. Raises OAuthError."""
        exchanges: dict[str, Callable[[Client, Parameters], Awaitable[Answer]]] = {
            GrantType.AUTHORIZATION_CODE: self._redeem,
            GrantType.REFRESH_TOKEN: self._refresh,
        }
        wanted = form.require("grant_type")
        if wanted not in exchanges:
            raise UnsupportedGrantType
        if wanted not in client.grant_types:
            raise UnauthorizedClient
        return await exchanges[wanted](client, form)

    async def _redeem(self, client: Client, form: Parameters) -> Answer:
        code, verifier = form.require("code"), form.require("code_verifier")
        digest = digest_of(code)
        found = await self._find_code(code, client)
        self._check_address(found, form.get("redirect_uri"))
        if not found.taken and found.payload.expires_at <= self.now():
            raise InvalidGrant
        if not rules.verifies(verifier, found.payload.code_challenge):
            await self._refuse_verifier(code, found)
        grants = self.families.grants
        if found.taken or not await self._store_of(code).take(digest, self.now()):
            await self.families.revoke(found.payload.grant_id, RevokeReason.CODE_REPLAYED)
            raise CodeReplayed
        await grants.lock(found.payload.grant_id)
        family = await self._get_family(found)
        await grants.note_code_used(found.payload.grant_id, self.now())
        grant, _ = family
        answer = await self.minter.answer(family, client, grant.scopes, found.payload.nonce)
        if grant.offline and GrantType.REFRESH_TOKEN in client.grant_types:
            answer["refresh_token"] = self._new_refresh_token(grant, None)
        return answer

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

    def _check_address(self, found: StoredCode, named: str | None) -> None:
        """The address of the authorization request, if it was named there (RFC 6749, section 4.1.3)."""
        payload = found.payload
        absent_on_both_sides = named is None and not payload.redirect_uri_named
        if named != payload.redirect_uri and not absent_on_both_sides:
            raise InvalidGrant

    async def _refuse_verifier(self, code: str, found: StoredCode) -> None:
        store, digest = self._store_of(code), digest_of(code)
        if not found.taken and await store.note_failure(digest) >= rules.MOST_FAILURES:
            await self.families.revoke(found.payload.grant_id, RevokeReason.CODE_GUESSED)
        raise WrongVerifier

    async def _get_family(self, found: StoredCode) -> Family:
        """The family while it and its session are alive. Raises InvalidGrant."""
        family = await self.families.grants.find_live(found.payload.grant_id, self.now())
        if family is None:
            raise InvalidGrant
        grant, account = family
        if all(session.id != grant.session_id for session in await self.sessions.list(account.id)):
            raise InvalidGrant
        return family

    async def _refresh(self, client: Client, form: Parameters) -> Answer:
        digest = digest_of(form.require("refresh_token"))
        grants = self.families.grants
        row = await self.refresh_tokens.find(digest)
        if row is None:
            raise InvalidGrant
        # One transaction at a time for each family: after this, what is read stays true.
        await grants.lock(row.grant_id)
        family = await grants.find_live(row.grant_id, self.now())
        row = await self.refresh_tokens.find(digest)
        if family is None or row is None or family[0].client_id != client.id:
            raise InvalidGrant
        if row.consumed_at is not None:
            return await self._answer_again(row)
        if row.expires_at <= self.now():
            raise InvalidGrant
        return await self._rotate(row, family, client, form.get("scope"))

    async def _answer_again(self, row: RefreshToken) -> Answer:
        """The same answer within the grace, while its refresh token is unused. Raises RefreshReplayed."""
        successor = await self.refresh_tokens.find_successor(row.digest)
        unused = successor is not None and successor.consumed_at is None
        recent = row.consumed_at is not None and self.now() - row.consumed_at <= GRACE
        if not (unused and recent and row.sealed_answer):
            await self.families.revoke(row.grant_id, RevokeReason.REFRESH_REPLAYED)
            raise RefreshReplayed
        answer: Answer = json.loads(self.minter.keys.seal.open(row.sealed_answer, _purpose(row.digest)))
        return answer

    async def _rotate(self, row: RefreshToken, family: Family, client: Client, wanted: str | None) -> Answer:
        grant, _ = family
        scopes = wanted.split() if wanted else grant.scopes
        if not set(scopes) <= set(grant.scopes):
            raise InvalidScope
        if not await self.refresh_tokens.claim(row.digest, self.now()):
            raise InvalidGrant
        answer = await self.minter.answer(family, client, scopes)
        answer["refresh_token"] = self._new_refresh_token(grant, row.digest)
        sealed = self.minter.keys.seal.close(json.dumps(answer), _purpose(row.digest))
        await self.refresh_tokens.keep_answer(row.digest, sealed)
        return answer

    def _new_refresh_token(self, grant: Grant, parent: str | None) -> str:
        secret, at = mint(rules.REFRESH_PREFIX), self.now()
        idle_end = at + self.minter.settings.tokens.refresh_idle
        self.refresh_tokens.add(
            RefreshToken(
                digest=secret.digest,
                grant_id=grant.id,
                parent_digest=parent,
                created_at=at,
                expires_at=min(idle_end, grant.expires_at),
                consumed_at=None,
                sealed_answer=None,
            )
        )
        return secret.text


def _purpose(digest: str) -> str:
    return f"refresh-answer:{digest}"
