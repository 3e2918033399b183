"""SQL of history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Dialect, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.history.models import ChangeRow, CommitRow
from registry_server.history.rules.reading import StoredChange
from registry_server.history.rules.rows import HistoryRows
from registry_server.tables import (
    Base,
    Part,
    Statement,
    Work,
    carry_out,
    insert_rows,
    insertion,
    once_for_each_database,
    prepare,
)

#: So few values are stored in one go; more are copied table by table.
_FEW = 5000


@dataclass(frozen=True, slots=True)
class _Statements:
    last: Statement
    insert_commit: Statement
    insert_change: Statement


@once_for_each_database
def _statements_on(dialect: Dialect) -> _Statements:
    newest = select(func.max(CommitRow.position)).scalar_subquery()
    last = select(CommitRow.position, CommitRow.commit).where(CommitRow.position == newest)
    commits, changes = (Base.metadata.tables[each.__tablename__] for each in (CommitRow, ChangeRow))
    return _Statements(
        last=prepare(last, dialect),
        insert_commit=insertion(commits, dialect),
        insert_change=insertion(changes, dialect),
    )


def _find_last(statements: _Statements) -> Work[tuple[int, str] | None]:
    found = yield statements.last.ask()
    return (found[0][0], found[0][1]) if found else None


def _insert(statements: _Statements, rows: HistoryRows) -> Work[None]:
    commits, added, changes = _parts(rows)
    yield statements.insert_commit.ask_each([*commits.rows()])
    new = [(path, position, None, after, None) for path, position, after, _, _ in added.rows()]
    yield statements.insert_change.ask_each([*new, *changes.rows()])


def _parts(rows: HistoryRows) -> tuple[Part, Part, Part]:
    return (
        Part(CommitRow, rows.commits),
        Part(ChangeRow, rows.added, {"before": None, "moved": None}),
        Part(ChangeRow, rows.changes),
    )


@dataclass(frozen=True, slots=True)
class HistoryRepository:
    """History inside one transaction."""

    session: AsyncSession

    async def find_last(self) -> tuple[int, str] | None:
        """Position and name of the newest commit that is known; the session has begun its transaction."""
        return await carry_out(self.session, lambda dialect: _find_last(_statements_on(dialect)))

    async def clear(self) -> None:
        """Forget everything."""
        for model in (ChangeRow, CommitRow):
            await self.session.execute(delete(model))

    async def insert(self, rows: HistoryRows) -> None:
        """Store the rows."""
        if len(rows.added) + len(rows.changes) <= _FEW:
            await carry_out(self.session, lambda dialect: _insert(_statements_on(dialect), rows))
            return
        await insert_rows(self.session, _parts(rows))

    async def list_of(self, path: str, before: int | None, limit: int) -> Sequence[StoredChange]:
        """Changes of a path, newest first, strictly older than a position."""
        query = _changes().where(ChangeRow.path == path).order_by(ChangeRow.position.desc()).limit(limit)
        if before is not None:
            query = query.where(ChangeRow.position < before)
        return [StoredChange(*row) for row in await self.session.execute(query)]

    async def find(self, path: str, commit: str) -> StoredChange | None:
        """What a commit, named by its id or the beginning of it, did to a path."""
        query = _changes().where(ChangeRow.path == path, CommitRow.commit.startswith(commit, autoescape=True))
        row = (await self.session.execute(query.order_by(ChangeRow.position.desc()).limit(1))).one_or_none()
        return StoredChange(*row) if row else None

    async def span(self, path: str) -> tuple[int, int] | None:
        """Instants of the first and the newest change of a path, in seconds since 1970."""
        query = (
            select(CommitRow.authored)
            .join(ChangeRow, ChangeRow.position == CommitRow.position)
            .where(ChangeRow.path == path)
            .order_by(CommitRow.position)
        )
        instants = list(await self.session.scalars(query))
        return (instants[0], instants[-1]) if instants else None


def _changes() -> Any:
    return select(
        ChangeRow.position,
        CommitRow.commit,
        CommitRow.author,
        CommitRow.authored,
        CommitRow.summary,
        ChangeRow.before,
        ChangeRow.after,
        ChangeRow.moved,
    ).join(CommitRow, CommitRow.position == ChangeRow.position)
