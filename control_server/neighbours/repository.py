"""SQL of learned route objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.neighbours.models import LearnedRoutes


@dataclass(frozen=True, slots=True)
class LearnedRepository:
    """Learned route objects in one session."""

    session: AsyncSession

    async def list(self, sources: Collection[str] | None = None) -> Mapping[str, LearnedRoutes]:
        """Rows by source, of these or of all."""
        wanted = select(LearnedRoutes)
        if sources is not None:
            wanted = wanted.where(LearnedRoutes.source.in_(sources))
        return {row.source: row for row in await self.session.scalars(wanted)}

    async def put(self, row: LearnedRoutes) -> None:
        """Store a row in the place of the one of its source."""
        await self.session.merge(row)

    async def forget_but(self, sources: Collection[str]) -> None:
        """Forget sources that no filter is made of any more."""
        await self.session.execute(delete(LearnedRoutes).where(LearnedRoutes.source.not_in(sources)))
