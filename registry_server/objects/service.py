"""Keeps the index in step with files, whatever they hold."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from registry_server.objects.repository.index import IndexRepository
from registry_server.objects.rules.grammar import quote
from registry_server.objects.rules.paths import show
from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, IndexCounts, IndexRows, Problem, ProblemCode, Tally
from registry_server.objects.store.beside import ParserLost, parsed_beside

__all__ = ["GRAMMAR_VERSION", "Chunks", "ObjectIndex", "Parsed", "ParserLost", "find_problems", "parsing"]
#: Raised when a file would be read differently than before: everything is then read anew.
GRAMMAR_VERSION = 3
_FEW, _LITTLE_BYTES = 40, 32_768
#: Files as they are read; so many at a time bound the memory of a load.
Chunks = AsyncGenerator[Sequence[FileVersion], None]
#: What is stored for them, in the same order.
Parsed = AsyncGenerator[IndexRows, None]
#: To begin a process takes as long as to parse some thousand files.
_MANY = 5000


def find_problems(files: Sequence[FileVersion]) -> list[tuple[str, Problem]]:
    """Everything wrong with the files taken together, by path; what a sync of them would record."""
    rows = index_rows(files, 1)
    found = [
        (path, Problem(ProblemCode(code), line, detail))
        for path, _, code, _, line, detail in rows.each_problem()
    ]
    paths = {ident: path for ident, path, *_ in rows.each_object()}
    keys = set(rows.classed())
    for ident, _, attribute, target, shown, line, classes in rows.each_reference():
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

    async def replace_all(self, parsed: Parsed) -> IndexCounts:
        """Make the index say exactly what these files say, whose objects are numbered from 1 on."""
        await self.repository.clear()
        tally = Tally.of(IndexCounts())
        stored = await self._store(parsed, tally)
        await self.repository.complete()
        await self.repository.mark_dangling(stored.dangling())
        return await self.repository.settle(tally)

    async def apply(self, before: IndexCounts, touched: Sequence[bytes], files: Chunks) -> IndexCounts:
        """Forget what was at the touched paths, and read the files anew; all else is as `before` counted."""
        tally = Tally.of(before)
        gone = await self.repository.remove([*map(show, touched)], tally)
        first_id = await self.repository.next_id()
        stored = await self._store(_parsed_here(files, first_id), tally)
        # Whoever names what went and came again is where it was.
        others = {key for key, _ in gone ^ stored.pairs()}
        await self.repository.mark_dangling_among(sorted(others), first_id, tally)
        return tally.counts()

    async def sound(self) -> Mapping[str, int]:
        """How many objects of each class take part in what is derived."""
        return await self.repository.count_sound()

    async def _store(self, parsed: Parsed, tally: Tally) -> _Stored:
        stored = _Stored()
        async with aclosing(parsed):
            async for rows in parsed:
                await self.repository.insert(rows)
                rows.add_to(tally)
                stored.add(rows)
        return stored


@asynccontextmanager
async def parsing(files: Chunks, number: int) -> AsyncIterator[Parsed]:
    """The rows of so many files, their objects numbered from 1 on. Raises ParserLost.

    Parsing is computation: where it is much, and there is a processor for it, another process does it from
    now on, while this one stores.
    """
    if number < _MANY or os.cpu_count() == 1:
        yield _parsed_here(files, 1)
        return
    async with parsed_beside(files, 1) as parsed:
        yield parsed


async def _parsed_here(chunks: Chunks, first_id: int) -> Parsed:
    """Off the event loop, so that readers are served meanwhile."""
    async with aclosing(chunks):
        async for files in chunks:
            rows = await _read(files, first_id)
            first_id += rows.count
            yield rows


async def _read(files: Sequence[FileVersion], first_id: int) -> IndexRows:
    """Of a few kilobytes at once: another thread takes longer to begin than the work to end."""
    if sum(len(file.raw or b"") for file in files[:_FEW]) < _LITTLE_BYTES and len(files) < _FEW:
        return index_rows(files, first_id)
    return await asyncio.to_thread(index_rows, files, first_id)


@dataclass(slots=True)
class _Stored:
    """What was stored so far."""

    #: By class, the folded key of every object.
    keys: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: By the classes that it may be of, what was named.
    named: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, rows: IndexRows) -> None:
        """Note what these objects are and name."""
        keys, named = self.keys, self.named
        for object_class, folded in rows.classed():
            keys[object_class].add(folded)
        for classes, target in rows.named():
            named[classes].add(target)

    def pairs(self) -> set[tuple[str, str]]:
        """Folded key and class of every object."""
        return {(folded, object_class) for object_class, some in self.keys.items() for folded in some}

    def dangling(self) -> list[tuple[str, str]]:
        """What was named and is not there, with the classes, where these objects are all that there are."""
        found = []
        for classes, named in self.named.items():
            there = set().union(*(self.keys.get(each, ()) for each in classes.split(" ")))
            found += [(target, classes) for target in named - there]
        return found
