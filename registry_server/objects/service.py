"""Keeps the index in step with files, whatever they hold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Self

from registry_server.objects.repository.index import IndexRepository
from registry_server.objects.rules.grammar import quote
from registry_server.objects.rules.loads import without_collection
from registry_server.objects.rules.paths import show
from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, IndexCounts, IndexRows, Problem, ProblemCode, Tally

#: Raised when a file would be read differently than before: everything is then read anew.
GRAMMAR_VERSION = 3
#: Of rows of objects and of references.
_KEY, _NAMED = itemgetter(4, 2), itemgetter(3, 6)
_FEW, _LITTLE_BYTES = 40, 32_768
#: Files as they are read; so many at a time bound the memory of a load.
Chunks = AsyncGenerator[Sequence[FileVersion], None]


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

    async def replace_all(self, files: Chunks) -> tuple[IndexCounts, int]:
        """Make the index say exactly what these files say; with how many they were."""
        with without_collection():
            return await self._load(files)

    async def _load(self, files: Chunks) -> tuple[IndexCounts, int]:
        await self.repository.clear()
        await self.repository.without_indexes()
        tally = Tally.of(IndexCounts())
        stored = await self._store(files, 1, tally)
        await self.repository.with_indexes()
        await self.repository.analyze()
        await self.repository.mark_dangling(stored.dangling())
        return await self.repository.settle(tally), stored.files

    async def apply(
        self, before: IndexCounts, touched: Sequence[bytes], files: Chunks
    ) -> tuple[IndexCounts, int]:
        """Forget what was at the touched paths, and read the files anew; all else stays as `before` counted.

        With how many files they were.
        """
        tally = Tally.of(before)
        gone = await self.repository.remove([*map(show, touched)], tally)
        first_id = await self.repository.next_id()
        stored = await self._store(files, first_id, tally)
        # Whoever names what went and came again is where it was.
        others = {key for key, _ in gone ^ stored.keys}
        await self.repository.mark_dangling_among(sorted(others), first_id, tally)
        return tally.counts(), stored.files

    async def sound(self) -> Mapping[str, int]:
        """How many objects of each class take part in what is derived."""
        return await self.repository.count_sound()

    async def _store(self, chunks: Chunks, first_id: int, tally: Tally) -> _Stored:
        """Parsing is computation: off the event loop, so that readers are served meanwhile.

        It is one chunk ahead of the database, which works outside the interpreter.
        """
        stored = _Stored()
        reading: asyncio.Task[IndexRows] | None = None
        async with aclosing(chunks):
            async for files in chunks:
                stored.files += len(files)
                rows = await reading if reading else None
                first_id += len(rows.objects) if rows else 0
                reading = asyncio.create_task(_read(files, first_id))
                if rows is not None:
                    await self._insert(rows, tally, stored)
        if reading:
            await self._insert(await reading, tally, stored)
        return stored

    async def _insert(self, rows: IndexRows, tally: Tally, stored: _Stored) -> None:
        await self.repository.insert(rows)
        tally.add(rows)
        stored.keys.update(map(_KEY, rows.objects))
        stored.named.update(map(_NAMED, rows.references))


async def _read(files: Sequence[FileVersion], first_id: int) -> IndexRows:
    """Of a few kilobytes at once: another thread takes longer to begin than the work to end."""
    if sum(len(file.raw or b"") for file in files[:_FEW]) < _LITTLE_BYTES and len(files) < _FEW:
        return index_rows(files, first_id)
    return await asyncio.to_thread(index_rows, files, first_id)


@dataclass(slots=True)
class _Stored:
    """What was stored so far."""

    #: Folded key and class of every object.
    keys: set[tuple[str, str]] = field(default_factory=set)
    #: What was named, and the classes that it may be of.
    named: set[tuple[str, str]] = field(default_factory=set)
    files: int = 0

    def dangling(self) -> list[tuple[str, str]]:
        """What was named and is not there, with the classes, where these objects are all that there are."""
        return [
            (target, classes)
            for target, classes in self.named
            if not any((target, object_class) in self.keys for object_class in classes.split(" "))
        ]
