"""SQL of the mirror: its state and the history of its syncs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Dialect, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.mirror.models import MirrorState, Sync
from registry_server.mirror.schemas import Standing, SyncRead
from registry_server.tables import (
    Base,
    Statement,
    Work,
    carry_out,
    insertion,
    once_for_each_database,
    prepare,
)

_ONLY = 1
_STATE = Base.metadata.tables[MirrorState.__tablename__].c
_SYNCS = Base.metadata.tables[Sync.__tablename__]
_STANDS = (_STATE.version, _STATE.last_sync, _STATE.commit, _STATE.grammar, _STATE.counts)
_STANDING = (
    select(*_STANDS, _SYNCS.c.outcome, _SYNCS.c.to_commit, _SYNCS.c.detail)
    .select_from(MirrorState)
    .outerjoin(_SYNCS, _SYNCS.c.id == select(func.max(_SYNCS.c.id)).scalar_subquery())
    .where(_STATE.id == _ONLY)
)
_LOCK = (
    update(MirrorState)
    .where(MirrorState.id == _ONLY)
    .values(last_sync=MirrorState.last_sync + 1)
    .returning(*_STANDS)
)


@dataclass(frozen=True, slots=True)
class _Statements:
    update_state: Statement
    insert_sync: Statement
    forget: Statement


@once_for_each_database
def _statements_on(dialect: Dialect) -> _Statements:
    table = _STATE.version.table
    moved = {each: bindparam(f"new_{each.name}", type_=each.type) for each in _STATE if each.name != "id"}
    before = bindparam("before", type_=_SYNCS.c.id.type)
    return _Statements(
        # There is but one row.
        update_state=prepare(update(table).values(moved), dialect),
        insert_sync=insertion(_SYNCS, dialect),
        forget=prepare(delete(_SYNCS).where(_SYNCS.c.id < before), dialect),
    )


@dataclass(frozen=True, slots=True)
class MirrorRepository:
    """The mirror inside one transaction."""

    session: AsyncSession

    async def get_state(self) -> MirrorState:
        """Where the mirror stands."""
        return (await self.session.scalars(select(MirrorState).where(MirrorState.id == _ONLY))).one()

    async def find_standing(self) -> Standing:
        """Where the mirror stands, and what became of the last sync, in one question."""
        return Standing(*(await self.session.execute(_STANDING)).one())

    async def lock(self) -> Standing:
        """Where the mirror stands, held until the end of the transaction, with the next sync numbered."""
        return Standing(*(await self.session.execute(_LOCK)).one())

    async def advance(self, state: Mapping[str, Any], sync: SyncRead, history: int) -> None:
        """Store where the mirror stands now and the sync that led there; forget those before the last few."""
        values = {**{f"new_{name}": value for name, value in state.items()}, **sync.model_dump()}
        await carry_out(self.session, lambda dialect: _advance(_statements_on(dialect), values, history))

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


def _advance(statements: _Statements, values: Mapping[str, Any], history: int) -> Work[None]:
    yield statements.update_state.ask(values)
    yield statements.insert_sync.ask(values)
    if values["id"] > history:
        yield statements.forget.ask({"before": values["id"] - history})
