"""Ceremonies: put once, taken once, on the kv tier where it takes them, else in SQL."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from sqlalchemy import delete

from auth_server.keys import CEREMONY
from auth_server.passkeys.models import WebauthnCeremony
from auth_server.passkeys.schemas import Ceremony, CeremonyKind
from shared.cache import Cache, TierUnavailable
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid


class CeremonyStore(Protocol):
    """Where challenges wait for their answer. A handle is good in the store that made it, nowhere else."""

    async def put(self, ceremony: Ceremony) -> str:
        """Keep it until it expires; answers its handle."""

    async def take(self, handle: str) -> Ceremony | None:
        """Remove it for good; None for every caller but one, and for one that is too old."""


@dataclass(frozen=True, slots=True)
class SqlCeremonies:
    """The table `webauthn_ceremonies`. Each act is a transaction of its own.

    So a challenge is gone before its answer is looked at, whatever becomes of the answer.
    """

    database: Database
    now: Clock
    tag: str = "sql"

    async def put(self, ceremony: Ceremony) -> str:
        """Insert it; answers its handle."""
        ident = new_uuid()
        async with self.database.transaction() as session:
            session.add(
                WebauthnCeremony(
                    id=ident,
                    kind=ceremony.kind,
                    browser=ceremony.browser,
                    challenge=ceremony.challenge,
                    subject=ceremony.subject,
                    created_at=self.now(),
                    expires_at=ceremony.expires_at,
                )
            )
        return f"{self.tag}-{ident}"

    async def take(self, handle: str) -> Ceremony | None:
        """Delete it; None for every caller but one."""
        tag, _, text = handle.partition("-")
        try:
            ident = UUID(text)
        except ValueError:
            return None
        if tag != self.tag:
            return None
        statement = delete(WebauthnCeremony).where(WebauthnCeremony.id == ident).returning(WebauthnCeremony)
        async with self.database.transaction() as session:
            row = await session.scalar(statement)
        if row is None or row.expires_at < self.now():
            return None
        return Ceremony(CeremonyKind(row.kind), row.browser, row.challenge, row.expires_at, row.subject)

    async def forget_expired(self) -> None:
        """Delete those that nobody answered."""
        async with self.database.transaction() as session:
            await session.execute(delete(WebauthnCeremony).where(WebauthnCeremony.expires_at < self.now()))


@dataclass(frozen=True, slots=True)
class KvCeremonies:
    """Ceremonies on the kv tier; one that it lost is one that the person begins again."""

    kv: Cache
    now: Clock
    tag: str = "kv"

    async def put(self, ceremony: Ceremony) -> str:
        """Keep it until it expires; answers its handle. Raises TierUnavailable."""
        ident = new_uuid()
        value = {
            "kind": ceremony.kind.value,
            "browser": ceremony.browser,
            "challenge": base64.b64encode(ceremony.challenge).decode(),
            "expires_at": ceremony.expires_at.isoformat(),
            "subject": ceremony.subject,
        }
        life = max(1.0, (ceremony.expires_at - self.now()).total_seconds())
        await self.kv.set_json(CEREMONY.key(ceremony=str(ident)), value, ttl_seconds=life)
        return f"{self.tag}-{ident}"

    async def take(self, handle: str) -> Ceremony | None:
        """Remove it; None for every caller but one, and where nobody can say who had it."""
        tag, _, text = handle.partition("-")
        try:
            ident = UUID(text)
            value = await self.kv.take_json(CEREMONY.key(ceremony=str(ident))) if tag == self.tag else None
        except (ValueError, TierUnavailable):
            return None
        if value is None or datetime.fromisoformat(value["expires_at"]) < self.now():
            return None
        return Ceremony(
            CeremonyKind(value["kind"]),
            value["browser"],
            base64.b64decode(value["challenge"]),
            datetime.fromisoformat(value["expires_at"]),
            value["subject"],
        )


@dataclass(frozen=True, slots=True)
class CeremoniesWithFallback:
    """The tier where it takes a ceremony, else SQL. Its handle names the one store that is asked for it."""

    kv: KvCeremonies
    sql: SqlCeremonies

    async def put(self, ceremony: Ceremony) -> str:
        """Keep it until it expires; answers its handle."""
        try:
            return await self.kv.put(ceremony)
        except TierUnavailable:
            return await self.sql.put(ceremony)

    async def take(self, handle: str) -> Ceremony | None:
        """Remove it for good."""
        store: CeremonyStore = self.kv if handle.startswith(f"{self.kv.tag}-") else self.sql
        return await store.take(handle)
