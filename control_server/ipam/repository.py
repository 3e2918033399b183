"""SQL of pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.ipam.models import Allocation, Pool


@dataclass(frozen=True, slots=True)
class IpamRepository:
    """Pools and allocations in one session."""

    session: AsyncSession

    async def find_pool(self, name: str, *, lock: bool = False) -> Pool | None:
        """The pool of this name, held until the end of the transaction when `lock`."""
        wanted = select(Pool).where(Pool.name == name)
        return (await self.session.scalars(wanted.with_for_update() if lock else wanted)).one_or_none()

    async def list_pools(self) -> Sequence[Pool]:
        """Every pool by name."""
        return (await self.session.scalars(select(Pool).order_by(Pool.name))).all()

    async def lock_pools(self, kind: str) -> Sequence[Pool]:
        """The pools of a kind by name, held until the end of the transaction: one gives out at a time."""
        wanted = select(Pool).where(Pool.kind == kind).order_by(Pool.name).with_for_update()
        return (await self.session.scalars(wanted)).all()

    async def count_by_pool(self) -> Mapping[str | None, int]:
        """How many values each pool has given out."""
        counted = select(Allocation.pool, func.count()).group_by(Allocation.pool)
        return dict(iter(await self.session.execute(counted)))

    async def list_allocations(self, pool: str) -> Sequence[Allocation]:
        """What a pool has given out, oldest first."""
        wanted = select(Allocation).where(Allocation.pool == pool).order_by(Allocation.id)
        return (await self.session.scalars(wanted)).all()

    async def taken(self, kind: str, scope: str) -> Mapping[str, Allocation]:
        """Values of a kind that are given out in a scope."""
        wanted = select(Allocation).where(Allocation.kind == kind, Allocation.scope == scope)
        return {row.value: row for row in await self.session.scalars(wanted)}

    async def free(self, holder: str, kind: str | None = None, but: str | None = None) -> None:
        """Take back from a holder everything, or everything of a kind save for one value."""
        gone = delete(Allocation).where(Allocation.holder == holder)
        if kind is not None:
            gone = gone.where(Allocation.kind == kind)
        if but is not None:
            gone = gone.where(Allocation.value != but)
        await self.session.execute(gone)

    async def give(self, row: Allocation) -> bool:
        """Store an allocation; False when another transaction has given the value out meanwhile."""
        try:
            async with self.session.begin_nested():
                self.session.add(row)
        except IntegrityError:
            return False
        return True

    def add(self, row: Pool) -> None:
        """Store a new pool."""
        self.session.add(row)

    async def remove(self, pool: Pool) -> None:
        """Remove a pool."""
        await self.session.delete(pool)
