"""SQL of sign-in sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.models import Account
from auth_server.sessions.models import BrowserSession


@dataclass(frozen=True, slots=True)
class SessionRepository:
    """Sessions in one session of the database."""

    session: AsyncSession

    def add(self, row: BrowserSession) -> None:
        """Store a new session."""
        self.session.add(row)

    async def find_live(self, digest: str, at: datetime) -> tuple[BrowserSession, Account] | None:
        """The session of this hash with its account, unless it has ended or the account is disabled."""
        query = (
            select(BrowserSession, Account)
            .join(Account, Account.id == BrowserSession.account_id)
            .where(
                BrowserSession.digest == digest,
                BrowserSession.ended_at.is_(None),
                BrowserSession.expires_at > at,
                Account.disabled_at.is_(None),
            )
        )
        found = (await self.session.execute(query)).first()
        return (found[0], found[1]) if found else None

    async def claim_renewal(self, ident: UUID, at: datetime, values: Mapping[str, object]) -> bool:
        """Change a session that has not ended; False when it has."""
        statement = (
            update(BrowserSession)
            .where(BrowserSession.id == ident, BrowserSession.ended_at.is_(None))
            .where(BrowserSession.expires_at > at)
            .values(**values)
            .returning(BrowserSession.id)
        )
        return await self.session.scalar(statement) is not None

    async def list_live(self, account_id: UUID, at: datetime) -> Sequence[BrowserSession]:
        """The account's sessions, last used first."""
        query = (
            select(BrowserSession)
            .where(BrowserSession.account_id == account_id)
            .where(BrowserSession.ended_at.is_(None), BrowserSession.expires_at > at)
            .order_by(BrowserSession.last_used_at.desc())
        )
        return (await self.session.scalars(query)).all()

    async def claim_end(self, ident: UUID, at: datetime, reason: str) -> BrowserSession | None:
        """End a session; None for every caller but one."""
        return await self.session.scalar(
            update(BrowserSession)
            .where(BrowserSession.id == ident, BrowserSession.ended_at.is_(None))
            .values(ended_at=at, end_reason=reason)
            .returning(BrowserSession)
        )

    async def end_all(
        self, account_id: UUID, except_: UUID | None, at: datetime, reason: str
    ) -> Sequence[BrowserSession]:
        """End every session of the account save one."""
        statement = (
            update(BrowserSession)
            .where(BrowserSession.account_id == account_id, BrowserSession.ended_at.is_(None))
            .values(ended_at=at, end_reason=reason)
            .returning(BrowserSession)
        )
        if except_ is not None:
            statement = statement.where(BrowserSession.id != except_)
        return (await self.session.scalars(statement)).all()

    async def touch(self, uses: Mapping[UUID, datetime]) -> None:
        """Note when sessions were last used."""
        for ident, at in uses.items():
            await self.session.execute(
                update(BrowserSession)
                .where(BrowserSession.id == ident, BrowserSession.last_used_at < at)
                .values(last_used_at=at)
            )

    async def forget_before(self, at: datetime) -> None:
        """Delete sessions that were over before this instant."""
        await self.session.execute(delete(BrowserSession).where(BrowserSession.expires_at < at))
