"""What is good once: sign-ins on their way, and proofs of keys that came with access tokens."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pydantic import TypeAdapter
from sqlalchemy import delete

from control_server.keys import LOGIN, PROOF_SEEN
from control_server.operators.models import PortalLogin
from control_server.operators.schemas import Login, Purpose
from shared.cache import Cache, TierUnavailable
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.proofs import Proof
from shared.kernel.secrets import digest_of


class LoginStore(Protocol):
    """Where sign-ins wait for their callback. A state is good in the store that made it, nowhere else."""

    async def put(self, login: Login) -> str:
        """Keep it until it expires; answers the `state` that finds it."""

    async def take(self, state: str) -> Login | None:
        """Remove it for good; None for every caller but one, and for one that is too old."""


@dataclass(frozen=True, slots=True)
class SqlLogins:
    """The table `portal_login_transactions`. Each act is a transaction of its own.

    So a state is spent before its code is looked at, whatever becomes of the code.
    """

    database: Database
    now: Clock
    tag: str = "sql"

    async def put(self, login: Login) -> str:
        """Insert it; answers its state."""
        state = f"{self.tag}-{secrets.token_urlsafe(32)}"
        async with self.database.transaction() as session:
            session.add(
                PortalLogin(
                    digest=digest_of(state),
                    browser=login.browser,
                    purpose=login.purpose,
                    nonce=login.nonce,
                    verifier=login.verifier,
                    next_page=login.next_page,
                    session_id=login.session_id,
                    created_at=login.created_at,
                    expires_at=login.expires_at,
                )
            )
        return state

    async def take(self, state: str) -> Login | None:
        """Delete it; None for every caller but one."""
        if not state.startswith(f"{self.tag}-"):
            return None
        statement = delete(PortalLogin).where(PortalLogin.digest == digest_of(state)).returning(PortalLogin)
        async with self.database.transaction() as session:
            row = await session.scalar(statement)
        if row is None or row.expires_at < self.now():
            return None
        return Login(
            browser=row.browser,
            purpose=Purpose(row.purpose),
            nonce=row.nonce,
            verifier=row.verifier,
            next_page=row.next_page,
            session_id=row.session_id,
            created_at=row.created_at,
            expires_at=row.expires_at,
        )


_LOGIN = TypeAdapter(Login)


@dataclass(frozen=True, slots=True)
class KvLogins:
    """Sign-ins on the kv tier; one that it lost is one that the person begins again."""

    kv: Cache
    now: Clock
    tag: str = "kv"

    async def put(self, login: Login) -> str:
        """Keep it until it expires; answers its state. Raises TierUnavailable."""
        state = f"{self.tag}-{secrets.token_urlsafe(32)}"
        life = max(1.0, (login.expires_at - self.now()).total_seconds())
        value = _LOGIN.dump_python(login, mode="json")
        await self.kv.set_json(LOGIN.key(state=digest_of(state)), value, ttl_seconds=life)
        return state

    async def take(self, state: str) -> Login | None:
        """Remove it; None for every caller but one, and where nobody can say who had it."""
        try:
            value = await self.kv.take_json(LOGIN.key(state=digest_of(state)))
        except TierUnavailable:
            return None
        login = _LOGIN.validate_python(value) if value else None
        return None if login is None or login.expires_at < self.now() else login


@dataclass(frozen=True, slots=True)
class LoginsWithFallback:
    """The tier where it takes a sign-in, else SQL. Its state names the one store that is asked for it."""

    kv: KvLogins
    sql: SqlLogins

    async def put(self, login: Login) -> str:
        """Keep it until it expires; answers its state."""
        try:
            return await self.kv.put(login)
        except TierUnavailable:
            return await self.sql.put(login)

    async def take(self, state: str) -> Login | None:
        """Remove it for good."""
        store: LoginStore = self.kv if state.startswith(f"{self.kv.tag}-") else self.sql
        return await store.take(state)


#: Proofs that one process remembers; each is too old after two minutes anyhow.
_MOST_PROOFS = 50_000


@dataclass(slots=True)
class SeenProofs:
    """Proofs that were let through: those of every worker on the kv tier, those of this one in any case."""

    kv: Cache
    _until: OrderedDict[str, datetime] = field(default_factory=OrderedDict)

    async def claim(self, proof: Proof, at: datetime) -> bool:
        """Whether the proof is shown for the first time, as far as anybody can say."""
        if not self._claim_here(proof, at):
            return False
        life = max(1.0, (proof.expires_at - at).total_seconds())
        try:
            return await self.kv.set_json_if_absent(PROOF_SEEN.key(proof=proof.name), 1, ttl_seconds=life)
        except TierUnavailable:
            return True

    def _claim_here(self, proof: Proof, at: datetime) -> bool:
        while self._until and (next(iter(self._until.values())) <= at or len(self._until) > _MOST_PROOFS):
            self._until.popitem(last=False)
        if proof.name in self._until:
            return False
        self._until[proof.name] = proof.expires_at
        return True
