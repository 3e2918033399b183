"""Keeps the history in step with the registry, and tells the life of an object."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from registry_server.history.errors import ChangeUnknown, HistoryTextUnavailable, HistoryUnknown
from registry_server.history.repository import HistoryRepository
from registry_server.history.rules.reading import difference, read_change
from registry_server.history.rules.rows import history_rows
from registry_server.history.schemas import ChangeDetail, ChangeRead, HistoryPage, LoggedCommit
from registry_server.objects.rules.cursors import read_cursor, write_cursor

_CHUNK = 2000
#: So few changes are made into rows at once: another thread takes longer to begin than the work to end.
_FEW = 100


class TextReader(Protocol):
    """Reads texts of any time."""

    async def text(self, blob: str) -> bytes | None:
        """The text, or None where it is not at hand."""


@dataclass(frozen=True, slots=True)
class HistoryIndex:
    """What a sync does to the history inside its transaction."""

    repository: HistoryRepository

    @classmethod
    def within(cls, session: Any) -> Self:
        """The history as part of the caller's transaction, whose session it is given."""
        return cls(HistoryRepository(session))

    async def last(self) -> str | None:
        """The newest commit that is known."""
        found = await self.repository.find_last()
        return found[1] if found else None

    async def extend(self, base: str | None, commits: Sequence[LoggedCommit]) -> None:
        """Add the commits, oldest first, that follow `base`; without a base they replace everything."""
        found = await self.repository.find_last()
        if base is None or found is None:
            await self.repository.clear()
            found = None
        position = found[0] + 1 if found else 1
        for start in range(0, len(commits), _CHUNK):
            some = commits[start : start + _CHUNK]
            few = sum(len(commit.changes) for commit in some) <= _FEW
            rows = (
                history_rows(some, position + start)
                if few
                else await asyncio.to_thread(history_rows, some, position + start)
            )
            await self.repository.insert(rows)


@dataclass(frozen=True, slots=True)
class HistoryService:
    """The life of each object."""

    repository: HistoryRepository
    texts: TextReader

    async def page(self, path: str, cursor: str | None, limit: int) -> HistoryPage:
        """Changes, newest first. Raises HistoryUnknown, or InvalidInput for a cursor that is not ours."""
        ended = read_cursor(cursor, int)
        found = await self.repository.list_of(path, int(ended[0]) if ended else None, limit + 1)
        if not found and ended is None:
            raise HistoryUnknown
        more = len(found) > limit
        page = found[:limit]
        return HistoryPage(
            path=path,
            items=[read_change(change) for change in page],
            next=write_cursor(page[-1].position) if more else None,
        )

    async def latest(self, path: str, limit: int) -> list[ChangeRead]:
        """The newest changes; none where nothing is known."""
        return [read_change(change) for change in await self.repository.list_of(path, None, limit)]

    async def span(self, path: str) -> tuple[int, int] | None:
        """Instants of the first and the newest change, in seconds since 1970."""
        return await self.repository.span(path)

    async def change(self, path: str, commit: str) -> ChangeDetail:
        """One change with its texts. Raises ChangeUnknown or HistoryTextUnavailable."""
        found = await self.repository.find(path, commit.lower())
        if found is None:
            raise ChangeUnknown
        before, after = [await self._text(blob) for blob in (found.before, found.after)]
        return ChangeDetail(
            **read_change(found).model_dump(),
            path=path,
            text=None if after is None else after.decode(errors="replace"),
            diff=difference(before, after),
        )

    async def _text(self, blob: str | None) -> bytes | None:
        if blob is None:
            return None
        text = await self.texts.text(blob)
        if text is None:
            raise HistoryTextUnavailable
        return text
