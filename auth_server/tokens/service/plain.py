"""The token endpoint's plain case: nothing to refuse, nothing to revoke, and no session of the database.

A service is answered from what the process knows. A code or refresh token is spent in a statement that does
all or nothing, where the database has such statements. Whatever is not plain is left, as it is, to the
service that works in a transaction; no decision is made here that is not made there too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from auth_server.clients.errors import UnauthorizedClient
from auth_server.clients.models import Client
from auth_server.clients.schemas import GrantType
from auth_server.tokens import rules
from auth_server.tokens.errors import InvalidScope
from auth_server.tokens.repository import AtOnceRepository, FirstToken, NextToken
from auth_server.tokens.schemas import Answer, Family, RefreshState, TokenRequest
from auth_server.tokens.service.redemption import admitted
from auth_server.tokens.service.successors import Successors, bound_to
from auth_server.tokens.store import KvCodeStore, Remembered
from shared.kernel.clock import Clock
from shared.kernel.principal import Role
from shared.kernel.secrets import digest_of, mint


@dataclass(frozen=True, slots=True)
class PlainExchange:
    """Exchanges outside of any transaction; made once for the life of the process."""

    successors: Successors
    #: None where no tier keeps codes.
    codes: KvCodeStore | None
    #: None where the database is asked in sessions only.
    families: AtOnceRepository | None
    session_idle: timedelta
    now: Clock
    #: Refresh tokens that this process gave, each with its family as it was then.
    given: Remembered[tuple[RefreshState, Family]] = field(default_factory=Remembered)

    async def exchange(self, client: Client, asked: TokenRequest) -> Answer | TokenRequest:
        """Tokens for an authenticated client, or what is left to be exchanged. Raises OAuthError."""
        wanted = admitted(client, asked)
        if wanted is GrantType.CLIENT_CREDENTIALS:
            return await self._serve(client, asked)
        if self.families is not None and wanted is GrantType.REFRESH_TOKEN:
            return await self._refresh(self.families, client, asked)
        if self.families is not None and self.codes is not None and wanted is GrantType.AUTHORIZATION_CODE:
            return await self._redeem(self.families, self.codes, client, asked)
        return asked

    async def _serve(self, client: Client, asked: TokenRequest) -> Answer:
        """A client acts on its own (RFC 6749, section 4.4); no family, and nothing to refresh."""
        if not client.is_confidential or client.role is None:
            raise UnauthorizedClient
        allowed = rules.service_scopes(Role(client.role), client.scopes)
        wanted = asked.form.get("scope")
        scopes = tuple(scope for scope in allowed if scope in wanted.split()) if wanted else allowed
        if not scopes:
            raise InvalidScope
        return await self.successors.minter.service_answer(client, scopes, asked.key_thumbprint)

    async def _redeem(
        self, families: AtOnceRepository, codes: KvCodeStore, client: Client, asked: TokenRequest
    ) -> Answer | TokenRequest:
        code, at = asked.form.get("code") or "", self.now()
        if rules.tag_of(code) != codes.tag:
            return asked
        digest = digest_of(code)
        payload = await codes.find_unspent(digest)
        if payload is None or not rules.is_plain(payload, client.id, asked, at):
            return asked
        if not await codes.take_unspent(digest):
            return asked
        key, token = asked.key_thumbprint, mint(rules.REFRESH_PREFIX)
        refreshes = GrantType.REFRESH_TOKEN in client.grant_types
        first = FirstToken(token.digest, bound_to(client, key), self.successors.idle_end(at), refreshes)
        family = await families.use_code(payload.grant_id, at, at - self.session_idle, first)
        if family is None:
            return replace(asked, spent=payload)
        scopes = family.grant.scopes
        answer = await self.successors.minter.answer(family, client, scopes, nonce=payload.nonce, key=key)
        if family.grant.offline and refreshes:
            answer["refresh_token"] = token.text
            self.given.keep(token.digest, (first.stored(family.grant, at), family))
        return answer

    async def _refresh(
        self, families: AtOnceRepository, client: Client, asked: TokenRequest
    ) -> Answer | TokenRequest:
        digest, at = digest_of(asked.form.get("refresh_token") or ""), self.now()
        found = self.given.take(digest) or await families.find_token(digest, at)
        if found is None:
            return asked
        row, family = found
        unused = row.consumed_at is None and row.expires_at > at
        proven = row.key_thumbprint in {None, asked.key_thumbprint}
        if not unused or not proven or family.grant.client_id != client.id:
            return asked
        follows = await self.successors.follow(digest, family, client, asked)
        if not await families.follow(digest, at, NextToken(follows.token, follows.sealed, family.account)):
            return asked
        self.given.keep(follows.token.digest, (follows.token, family))
        return follows.answer
