"""SQL of device authorizations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.device.models import DeviceAuthorization


@dataclass(frozen=True, slots=True)
class DeviceRepository:
    """Device authorizations in one session of the database."""

    session: AsyncSession

    def add(self, row: DeviceAuthorization) -> None:
        """Store a new one."""
        self.session.add(row)

    async def find_locked(self, digest: str) -> DeviceAuthorization | None:
        """The one whose device code has this hash; others that ask for it wait until this one is done."""
        query = select(DeviceAuthorization).where(DeviceAuthorization.digest == digest).with_for_update()
        return await self.session.scalar(query.execution_options(populate_existing=True))

    async def find_waiting(self, user_code_digest: str, at: datetime) -> DeviceAuthorization | None:
        """The one that waits for this code to be confirmed."""
        return await self.session.scalar(
            select(DeviceAuthorization).where(
                DeviceAuthorization.user_code_digest == user_code_digest,
                DeviceAuthorization.decided_at.is_(None),
                DeviceAuthorization.expires_at > at,
            )
        )

    async def has_user_code(self, user_code_digest: str) -> bool:
        """Whether the code is taken, be it used or not."""
        query = select(DeviceAuthorization.id).where(DeviceAuthorization.user_code_digest == user_code_digest)
        return await self.session.scalar(query) is not None

    async def claim_decision(self, ident: UUID, grant_id: UUID | None, at: datetime) -> bool:
        """Answer it; False for every caller but one."""
        statement = (
            update(DeviceAuthorization)
            .where(DeviceAuthorization.id == ident, DeviceAuthorization.decided_at.is_(None))
            .values(decided_at=at, grant_id=grant_id)
            .returning(DeviceAuthorization.id)
        )
        return await self.session.scalar(statement) is not None

    async def claim_redemption(self, ident: UUID, at: datetime) -> bool:
        """Redeem it; False for every caller but one."""
        statement = (
            update(DeviceAuthorization)
            .where(DeviceAuthorization.id == ident, DeviceAuthorization.consumed_at.is_(None))
            .values(consumed_at=at)
            .returning(DeviceAuthorization.id)
        )
        return await self.session.scalar(statement) is not None

    async def note_question(self, ident: UUID, at: datetime, pause_seconds: int) -> None:
        """Remember when the device asked, and how long it is to wait."""
        await self.session.execute(
            update(DeviceAuthorization)
            .where(DeviceAuthorization.id == ident)
            .values(polled_at=at, pause_seconds=pause_seconds)
        )

    async def forget_before(self, at: datetime) -> None:
        """Delete those that expired before this instant."""
        await self.session.execute(delete(DeviceAuthorization).where(DeviceAuthorization.expires_at < at))
