"""SQL of the mirror: its state and the history of its syncs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.mirror.models import MirrorState, Sync

_ONLY = 1


@dataclass(frozen=True, slots=True)
class MirrorRepository:
    """The mirror inside one transaction."""

    session: AsyncSession

    async def get_state(self) -> MirrorState:
        """Where the mirror stands."""
        return (await self.session.scalars(select(MirrorState).where(MirrorState.id == _ONLY))).one()

    async def lock_state(self) -> MirrorState:
        """Where the mirror stands, held until the end of the transaction, with the next sync numbered."""
        statement = (
            update(MirrorState)
            .where(MirrorState.id == _ONLY)
            .values(last_sync=MirrorState.last_sync + 1)
            .returning(MirrorState)
        )
        return (await self.session.scalars(statement, execution_options={"populate_existing": True})).one()

    async def set_checked(self, commit: str, at: datetime) -> None:
        """Note that upstream has nothing newer than this commit, if it is still what is served."""
        statement = update(MirrorState).where(MirrorState.id == _ONLY, MirrorState.commit == commit)
        await self.session.execute(statement.values(checked_at=at))

    def add(self, sync: Sync) -> None:
        """Remember a sync."""
        self.session.add(sync)

    async def find_latest(self) -> Sync | None:
        """The sync before this one."""
        return (await self.session.scalars(select(Sync).order_by(Sync.id.desc()).limit(1))).one_or_none()

    async def list_latest(self, limit: int, before: int | None = None) -> Sequence[Sync]:
        """The last syncs, newest first, strictly older than `before`."""
        query = select(Sync).order_by(Sync.id.desc()).limit(limit)
        if before is not None:
            query = query.where(Sync.id < before)
        return (await self.session.scalars(query)).all()

    async def forget_before(self, ident: int) -> None:
        """Forget older syncs."""
        await self.session.execute(delete(Sync).where(Sync.id < ident))
