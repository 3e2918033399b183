"""Keeps the index in step with files, whatever they hold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from registry_server.objects.repository.index import IndexRepository
from registry_server.objects.rules.grammar import quote
from registry_server.objects.rules.paths import show
from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, IndexCounts, IndexRows, Problem, ProblemCode, Tally

#: Raised when a file would be read differently than before: everything is then read anew.
GRAMMAR_VERSION = 3
#: Files that are read and stored together: bounds the memory of a load.
_CHUNK = 2000


def find_problems(files: Sequence[FileVersion]) -> list[tuple[str, Problem]]:
    """Everything wrong with the files taken together, by path; what a sync of them would record."""
    rows = index_rows(files, 1)
    found = [
        (path, Problem(ProblemCode(code), line, detail)) for path, _, code, _, line, detail in rows.problems
    ]
    paths = {ident: path for ident, path, *_ in rows.objects}
    keys = {(object_class, folded) for _, _, object_class, _, folded, *_ in rows.objects}
    for ident, _, attribute, target, shown, line, classes, _ in rows.references:
        if not any((object_class, target) in keys for object_class in classes.split()):
            detail = f"{attribute} names {quote(shown)}, which is not in the registry"
            found.append((paths[ident], Problem(ProblemCode.DANGLING_REFERENCE, line, detail)))
    return sorted(found, key=lambda each: (each[0], each[1].line or 0, each[1].code))


@dataclass(frozen=True, slots=True)
class ObjectIndex:
    """What a sync does to the index inside its transaction."""

    repository: IndexRepository

    @classmethod
    def within(cls, session: Any) -> Self:
        """The index as part of the caller's transaction, whose session it is given."""
        return cls(IndexRepository(session))

    async def replace_all(self, files: Sequence[FileVersion]) -> IndexCounts:
        """Make the index say exactly what these files say."""
        await self.repository.clear()
        tally = Tally.of(IndexCounts())
        await self._store(files, 1, tally)
        await self.repository.analyze()
        await self.repository.mark_dangling()
        return await self.repository.settle(tally)

    async def apply(
        self, before: IndexCounts, removed: Sequence[bytes], changed: Sequence[FileVersion]
    ) -> IndexCounts:
        """Forget the removed paths and read the changed files anew; all else stays as `before` counted it."""
        tally = Tally.of(before)
        touched = [*map(show, removed), *(show(file.path) for file in changed)]
        folded = await self.repository.remove(touched, tally)
        first_id = await self.repository.next_id()
        folded |= await self._store(changed, first_id, tally)
        await self.repository.mark_dangling_among(sorted(folded), first_id)
        return await self.repository.settle(tally)

    async def _store(self, files: Sequence[FileVersion], first_id: int, tally: Tally) -> set[str]:
        folded: set[str] = set()
        chunks = [files[start : start + _CHUNK] for start in range(0, len(files), _CHUNK)]
        # Parsing is computation: off the event loop, so that readers are served meanwhile, and one chunk
        # ahead of the database, which works outside the interpreter.
        reading = _read(chunks[0], first_id) if chunks else None
        for following in [*chunks[1:], None]:
            rows = await reading if reading else IndexRows()
            first_id += len(rows.objects)
            reading = _read(following, first_id) if following else None
            await self.repository.insert(rows)
            tally.add(rows)
            folded.update(row[4] for row in rows.objects)
        return folded


def _read(files: Sequence[FileVersion], first_id: int) -> asyncio.Task[IndexRows]:
    return asyncio.create_task(asyncio.to_thread(index_rows, files, first_id))
