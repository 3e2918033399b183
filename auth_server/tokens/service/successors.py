"""Refresh tokens: the first of a family, and what follows on the use of one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from pydantic_core import to_json

from auth_server.clients.models import Client
from auth_server.tokens import rules
from auth_server.tokens.errors import InvalidScope
from auth_server.tokens.schemas import Answer, Family, LiveGrant, RefreshState, TokenRequest
from auth_server.tokens.service.minting import Minter
from shared.kernel.clock import Clock
from shared.kernel.principal import Role
from shared.kernel.secrets import mint


class Successor(NamedTuple):
    """What the use of a refresh token gives: the answer, the token in it, and the answer to be kept."""

    answer: Answer
    token: RefreshState
    sealed: str


@dataclass(frozen=True, slots=True)
class Successors:
    """Makes refresh tokens; storing them is the caller's."""

    minter: Minter
    now: Clock

    def new(self, grant: LiveGrant, client: Client, key: str | None) -> tuple[str, RefreshState]:
        """A fresh token of the family: its text, which only the client will see, and what is kept of it."""
        secret, at = mint(rules.REFRESH_PREFIX), self.now()
        token = RefreshState(
            digest=secret.digest,
            grant_id=grant.id,
            key_thumbprint=bound_to(client, key),
            created_at=at,
            expires_at=min(self.idle_end(at), grant.expires_at),
            consumed_at=None,
            sealed_answer=None,
        )
        return secret.text, token

    def idle_end(self, at: datetime) -> datetime:
        """Until when a token of this time is good, unless its family ends before."""
        return at + self.minter.settings.tokens.refresh_idle

    async def follow(self, digest: str, family: Family, client: Client, asked: TokenRequest) -> Successor:
        """What follows on the token of this hash. Raises InvalidScope."""
        grant = family.grant
        wanted, key = asked.form.get("scope"), asked.key_thumbprint
        asked_for = set(wanted.split() if wanted else grant.scopes)
        scopes = [scope for scope in grant.scopes if scope in asked_for]
        if not asked_for <= set(grant.scopes) or not rules.scopes_for(Role(family.account.role), scopes):
            raise InvalidScope
        answer = await self.minter.answer(family, client, scopes, key=key)
        answer["refresh_token"], token = self.new(grant, client, key)
        sealed = self.minter.keys.seal.close(to_json(answer).decode(), _purpose(digest))
        return Successor(answer, token, sealed)

    def again(self, row: RefreshState, sealed: str) -> Answer:
        """The answer that the use of this token gave."""
        answer: Answer = json.loads(self.minter.keys.seal.open(sealed, _purpose(row.digest)))
        return answer


def bound_to(client: Client, key: str | None) -> str | None:
    """The key that a refresh token is bound to: a client with a secret is bound by that already."""
    return None if client.is_confidential else key


def _purpose(digest: str) -> str:
    return f"refresh-answer:{digest}"
