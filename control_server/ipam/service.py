"""Pools: what is free is given out once, what is freed is free again."""

from __future__ import annotations

from dataclasses import dataclass

from control_server.audit.service import Audit
from control_server.ipam import rules
from control_server.ipam.errors import PoolExhausted, PoolExists, PoolInUse, PoolNotFound, ValueTaken
from control_server.ipam.models import Allocation, Pool
from control_server.ipam.repository import IpamRepository
from control_server.ipam.schemas import (
    AllocationList,
    AllocationRead,
    PoolChange,
    PoolCreate,
    PoolKind,
    PoolList,
    PoolRead,
    check_range,
)
from control_server.policy.errors import FactChanged
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.principal import Principal


@dataclass(frozen=True, slots=True)
class Ipam:
    """Pools and allocations as one session sees them."""

    rows: IpamRepository
    audit: Audit
    now: Clock

    async def list_pools(self) -> PoolList:
        """Every pool."""
        used = await self.rows.count_by_pool()
        items = [_read(pool, used.get(pool.name, 0)) for pool in await self.rows.list_pools()]
        return PoolList(items=items, total=len(items))

    async def list_allocations(self, name: str) -> AllocationList:
        """What a pool has given out. Raises PoolNotFound."""
        await self._pool(name)
        found = await self.rows.list_allocations(name)
        items = [
            AllocationRead(value=row.value, scope=row.scope, holder=row.holder, created_at=row.created_at)
            for row in found
        ]
        return AllocationList(items=items, total=len(items))

    async def create_pool(self, actor: Principal, wanted: PoolCreate) -> PoolRead:
        """Add a pool. Raises PoolExists."""
        if await self.rows.find_pool(wanted.name) is not None:
            raise PoolExists
        pool = Pool(
            name=wanted.name, kind=wanted.kind.value, range=wanted.range, version=1, created_at=self.now()
        )
        self.rows.add(pool)
        self.audit.note(actor, "pool.created", ("pool", pool.name), after=wanted.model_dump(mode="json"))
        return _read(pool, 0)

    async def get_pool(self, name: str) -> PoolRead:
        """One pool. Raises PoolNotFound."""
        used = await self.rows.count_by_pool()
        return _read(await self._pool(name), used.get(name, 0))

    async def change_pool(self, actor: Principal, name: str, wanted: PoolChange, version: int) -> PoolRead:
        """Give it another range. Raises PoolNotFound, FactChanged, InvalidInput, or PoolInUse."""
        pool = await self.rows.find_pool(name, lock=True)
        if pool is None:
            raise PoolNotFound(f"There is no pool called {name!r}.")
        held = await self.rows.list_allocations(name)
        before = _read(pool, len(held))
        if pool.version != version:
            raise FactChanged.between(before, wanted)
        _check_range(before.kind, wanted.range)
        inside = set(rules.values(before.kind, wanted.range))
        if outside := [row for row in held if row.value not in inside]:
            raise PoolInUse(
                f"{outside[0].value} belongs to {outside[0].holder} and is outside of that range."
            )
        pool.range, pool.version = wanted.range, pool.version + 1
        self.audit.note(
            actor,
            "pool.changed",
            ("pool", name),
            before={"range": before.range},
            after={"range": wanted.range},
        )
        return _read(pool, len(held))

    async def delete_pool(self, actor: Principal, name: str) -> None:
        """Remove a pool. Raises PoolNotFound or PoolInUse."""
        pool = await self._pool(name)
        if held := await self.rows.list_allocations(name):
            raise PoolInUse(f"{len(held)} values of this pool are given out, one to {held[0].holder}.")
        await self.rows.remove(pool)
        self.audit.note(actor, "pool.deleted", ("pool", name))

    async def offers(self, kind: PoolKind) -> bool:
        """Whether there is a pool of this kind."""
        return any(pool.kind == kind.value for pool in await self.rows.list_pools())

    async def take(self, kind: PoolKind, holder: str, *, scope: str = "") -> str:
        """Give out the first free value of a kind. Raises PoolExhausted, also when there is no pool."""
        pools = await self.rows.lock_pools(kind.value)
        taken = await self.rows.taken(kind.value, scope)
        for pool in pools:
            free = next((value for value in rules.values(kind, pool.range) if value not in taken), None)
            if free is not None:
                await self._give(kind, free, holder, scope=scope, pool=pool.name)
                return free
        if not pools:
            raise PoolExhausted(
                f"There is no pool of kind {kind.value}: add one, or write the value yourself."
            )
        raise PoolExhausted

    async def claim(
        self, kind: PoolKind, value: str, holder: str, *, scope: str = "", field: str = ""
    ) -> None:
        """Give out this very value; nothing happens when the holder has it. Raises ValueTaken."""
        await self.rows.lock_pools(kind.value)
        taken = (await self.rows.taken(kind.value, scope)).get(value)
        if taken is None:
            await self._give(kind, value, holder, scope=scope, pool=None)
        elif taken.holder != holder:
            detail = f"{value} belongs to {taken.holder} already."
            raise ValueTaken(detail, fields=[FieldError(field or kind.value, "value_taken", detail)])

    async def keep_only(self, kind: PoolKind, value: str | None, holder: str) -> None:
        """Take back what the holder has of this kind, save for one value."""
        await self.rows.free(holder, kind.value, but=value)

    async def free(self, holder: str) -> None:
        """Take everything back from a holder that is gone."""
        await self.rows.free(holder)

    async def _give(self, kind: PoolKind, value: str, holder: str, *, scope: str, pool: str | None) -> None:
        if pool is None:
            pool = await self._pool_of(kind, value)
        row = Allocation(
            kind=kind.value, scope=scope, value=value, holder=holder, pool=pool, created_at=self.now()
        )
        if not await self.rows.give(row):
            raise ValueTaken(f"{value} has just been given to somebody else; try again.")

    async def _pool_of(self, kind: PoolKind, value: str) -> str | None:
        for pool in await self.rows.list_pools():
            if pool.kind == kind.value and value in rules.values(kind, pool.range):
                return pool.name
        return None

    async def _pool(self, name: str) -> Pool:
        pool = await self.rows.find_pool(name)
        if pool is None:
            raise PoolNotFound(f"There is no pool called {name!r}.")
        return pool


def _read(pool: Pool, used: int) -> PoolRead:
    kind = PoolKind(pool.kind)
    return PoolRead(
        name=pool.name,
        kind=kind,
        range=pool.range,
        size=rules.size(kind, pool.range),
        used=used,
        version=pool.version,
        created_at=pool.created_at,
    )


def _check_range(kind: PoolKind, text: str) -> None:
    try:
        check_range(kind, text)
    except ValueError as error:
        raise InvalidInput(fields=[FieldError("range", "range_refused", str(error))]) from None
