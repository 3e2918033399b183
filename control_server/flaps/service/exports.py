"""Scores and what happened, written out for a spreadsheet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from control_server.flaps.repository import FlapHistory
from control_server.flaps.schemas import FlapRead, FlapTable, SubjectKind, TransitionRead
from control_server.flaps.service.reading import FlapService
from shared.kernel.spreadsheets import line_of

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class FlapExport:
    """Writes one table out, however long it is; a slow reader holds no session."""

    flaps: FlapService

    async def stream_lines(self, table: FlapTable, above: int = 0) -> AsyncIterator[str]:
        """A head and a line each, the highest score or the latest event first.

        `above` leaves scores out that are not higher; what happened is told whatever its score.
        """
        if table is FlapTable.TRANSITIONS:
            yield line_of(TransitionRead.model_fields)
            async for lines in self._transitions():
                yield lines
            return
        yield line_of(FlapRead.model_fields)
        for read in await self.flaps.restless():
            if (read.kind is SubjectKind.PREFIX) is (table is FlapTable.PREFIXES) and read.score > above:
                yield _line(read)

    async def _transitions(self) -> AsyncIterator[str]:
        before: int | None = None
        while True:
            async with self.flaps.database.reading() as session:
                rows = await FlapHistory(session).list_before(before, _AT_ONCE)
                lines = "".join(_line(TransitionRead.model_validate(row)) for row in rows)
            yield lines
            if len(rows) < _AT_ONCE:
                return
            before = rows[-1].id


def _line(read: FlapRead | TransitionRead) -> str:
    return line_of(read.model_dump(mode="json").values())
