"""SQL of one-time links, portal sessions and logout tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.operators.models import LogoutToken, PortalLogin, PortalSession, SessionLink
from control_server.operators.schemas import LogoutNotice


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

    async def find_live_by_id(self, ident: str, at: datetime) -> PortalSession | None:
        """The session of this id, unless it has ended or is too old."""
        return await self.session.scalar(
            select(PortalSession).where(
                PortalSession.id == ident,
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

    async def claim_step_up(self, ident: str, values: dict[str, object]) -> PortalSession | None:
        """Note a fresh proof in a session that has not ended; None where it has."""
        return await self.session.scalar(
            update(PortalSession)
            .where(PortalSession.id == ident, PortalSession.ended_at.is_(None))
            .values(values)
            .returning(PortalSession)
        )

    async def end_named(self, notice: LogoutNotice, at: datetime) -> Sequence[PortalSession]:
        """End the sessions that hang on this one there, or all of the account where none is named."""
        if notice.sid is None:
            hanging = PortalSession.sub == notice.sub
        elif notice.sub is None:
            hanging = PortalSession.sid == notice.sid
        else:
            hanging = and_(PortalSession.sid == notice.sid, PortalSession.sub == notice.sub)
        statement = (
            update(PortalSession)
            .where(hanging, PortalSession.ended_at.is_(None))
            .values(ended_at=at)
            .returning(PortalSession)
        )
        return (await self.session.scalars(statement)).all()

    async def claim_logout_token(self, notice: LogoutNotice) -> bool:
        """Spend the token's `jti`; False for every caller but one."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        statement = (
            insert(LogoutToken)
            .values(jti=notice.jti, expires_at=notice.expires_at)
            .on_conflict_do_nothing()
            .returning(LogoutToken.jti)
        )
        return await self.session.scalar(statement) is not None

    async def forget_before(self, at: datetime) -> None:
        """Delete links and sessions that ended before this instant."""
        await self.session.execute(delete(SessionLink).where(SessionLink.expires_at < at))
        await self.session.execute(delete(PortalSession).where(PortalSession.expires_at < at))

    async def forget_spent(self, at: datetime) -> None:
        """Delete sign-ins that nobody finished, and logout tokens that can no longer be sent again."""
        await self.session.execute(delete(PortalLogin).where(PortalLogin.expires_at < at))
        await self.session.execute(delete(LogoutToken).where(LogoutToken.expires_at < at))
