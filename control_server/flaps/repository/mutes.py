"""SQL of mutes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.flaps.models import FlapMute
from control_server.flaps.schemas import Subject


@dataclass(frozen=True, slots=True)
class FlapMutes:
    """Mutes in one session. Of one subject there is at most one: the database sees to it."""

    session: AsyncSession

    async def claim(self, subject: Subject, by: str, at: datetime) -> bool:
        """Mute a subject unless it is muted."""
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        node_id, kind, name = subject
        values = {"node_id": node_id, "kind": kind, "subject": name, "muted_by": by, "muted_at": at}
        row = dialect.insert(FlapMute).values(**values).on_conflict_do_nothing()
        return (await self.session.execute(row.returning(FlapMute.node_id))).first() is not None

    async def find(self, subject: Subject) -> FlapMute | None:
        """The mute of a subject."""
        return await self.session.get(FlapMute, subject)

    async def list_of(self, node_ids: Collection[str] | None = None) -> Sequence[FlapMute]:
        """The mutes of these nodes or all."""
        query = select(FlapMute)
        if node_ids is not None:
            query = query.where(FlapMute.node_id.in_(node_ids))
        return (await self.session.scalars(query)).all()

    async def claim_end(self, subject: Subject, muted_at: datetime | None = None) -> bool:
        """End a mute once; with an instant only the one of then, and none that came after it."""
        node_id, kind, name = subject
        query = delete(FlapMute).where(
            FlapMute.node_id == node_id, FlapMute.kind == kind, FlapMute.subject == name
        )
        if muted_at is not None:
            query = query.where(FlapMute.muted_at == muted_at)
        return (await self.session.execute(query.returning(FlapMute.node_id))).first() is not None

    async def newest(self) -> str:
        """A text that differs when a mute began or ended."""
        columns = (func.count(FlapMute.node_id), func.max(FlapMute.muted_at))
        return str((await self.session.execute(select(*columns))).one())
