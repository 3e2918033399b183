"""SQL of one-time links and portal sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.operators.models import PortalSession, SessionLink


@dataclass(frozen=True, slots=True)
class OperatorRepository:
    """Links and sessions in one session of the database."""

    session: AsyncSession

    def add(self, row: SessionLink | PortalSession) -> None:
        """Store a new row."""
        self.session.add(row)

    async def claim_link(self, digest: str, at: datetime) -> SessionLink | None:
        """Spend a link; None for every caller but one."""
        return await self.session.scalar(
            update(SessionLink)
            .where(
                SessionLink.digest == digest,
                SessionLink.consumed_at.is_(None),
                SessionLink.expires_at >= at,
            )
            .values(consumed_at=at)
            .returning(SessionLink)
        )

    async def find_live(self, digest: str, at: datetime) -> PortalSession | None:
        """The session with this hash, unless it has ended or is too old."""
        return await self.session.scalar(
            select(PortalSession).where(
                PortalSession.digest == digest,
                PortalSession.ended_at.is_(None),
                PortalSession.expires_at > at,
            )
        )

    async def touch(self, ident: str, at: datetime) -> None:
        """The session was used."""
        await self.session.execute(
            update(PortalSession).where(PortalSession.id == ident).values(last_used_at=at)
        )

    async def end(self, digest: str, at: datetime) -> PortalSession | None:
        """End a session; None when there was none to end."""
        return await self.session.scalar(
            update(PortalSession)
            .where(PortalSession.digest == digest, PortalSession.ended_at.is_(None))
            .values(ended_at=at)
            .returning(PortalSession)
        )

    async def forget_before(self, at: datetime) -> None:
        """Delete links and sessions that ended before this instant."""
        await self.session.execute(delete(SessionLink).where(SessionLink.expires_at < at))
        await self.session.execute(delete(PortalSession).where(PortalSession.expires_at < at))
