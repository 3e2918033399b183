"""SQL of history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.history.models import ChangeRow, CommitRow
from registry_server.history.rules.reading import StoredChange
from registry_server.history.rules.rows import HistoryRows
from registry_server.tables import insert_rows


@dataclass(frozen=True, slots=True)
class HistoryRepository:
    """History inside one transaction."""

    session: AsyncSession

    async def find_last(self) -> tuple[int, str] | None:
        """Position and name of the newest commit that is known."""
        query = select(CommitRow.position, CommitRow.commit).order_by(CommitRow.position.desc()).limit(1)
        row = (await self.session.execute(query)).one_or_none()
        return (row.position, row.commit) if row else None

    async def clear(self) -> None:
        """Forget everything."""
        for model in (ChangeRow, CommitRow):
            await self.session.execute(delete(model))

    async def insert(self, rows: HistoryRows) -> None:
        """Store the rows."""
        await insert_rows(self.session, CommitRow, rows.commits)
        await insert_rows(self.session, ChangeRow, rows.changes)

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
