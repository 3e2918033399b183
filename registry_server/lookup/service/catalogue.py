"""Objects as they are listed, shown and linked, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from registry_server.lookup.errors import ObjectClassUnknown, ObjectUnknown
from registry_server.lookup.repository.catalogue import CatalogueRepository, FoundObject, ProblemFilter
from registry_server.lookup.schemas.catalogue import (
    AttributeRead,
    BacklinkPage,
    ObjectPage,
    ObjectRead,
    ProblemPage,
)
from registry_server.objects.rules.classes import CLASS_OF_DIRECTORY, CLASSES, PREFIX_CLASSES, key_of
from registry_server.objects.rules.cursors import Part, read_cursor, write_cursor
from registry_server.objects.rules.grammar import parse
from registry_server.objects.rules.numbers import PrefixRefused, parse_prefix
from registry_server.objects.rules.typed import kind_of, parts_of
from registry_server.objects.schemas import SEVERITY_OF, ProblemCode, Severity

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class CatalogueService:
    """Objects of one snapshot."""

    repository: CatalogueRepository

    async def get(self, object_class: str, key: str) -> ObjectRead:
        """One object with all that belongs to it. Raises ObjectClassUnknown or ObjectUnknown."""
        return await self.read(await self.find(object_class, key))

    async def read(self, found: FoundObject) -> ObjectRead:
        """All that belongs to an object."""
        attributes, _ = parse(found.raw)
        kinds = [kind_of(found.object_class, each.name) for each in attributes]
        return ObjectRead(
            object_class=found.object_class,
            key=found.key,
            path=found.path,
            blob=found.blob,
            indexed=found.indexed,
            attributes=[
                AttributeRead(**each._asdict(), kind=kind, parts=parts_of(kind, each))
                for each, kind in zip(attributes, kinds, strict=True)
            ],
            references=await self.repository.list_references(found.id),
            referenced_by=await self.repository.count_backlinks(found),
            problems=await self.repository.list_problems_of(found),
            raw=found.raw.decode(errors="replace"),
        )

    async def find(self, object_class: str, key: str) -> FoundObject:
        """The object as it is stored, by its key or its file name, in any case.

        Raises ObjectClassUnknown or ObjectUnknown.
        """
        found = await self.look(object_class, key)
        if found is None:
            raise ObjectUnknown
        return found

    async def look(self, object_class: str, key: str) -> FoundObject | None:
        """The same, or None where there is no such object. Raises ObjectClassUnknown."""
        known = class_named(object_class)
        for spelling in _spellings(known, key):
            found = await self.repository.find(known, spelling)
            if found is not None:
                return found
        return None

    async def count_class(self, object_class: str) -> int:
        """How many objects of a class there are."""
        return await self.repository.count_class(class_named(object_class))

    async def top_labels(self) -> list[str]:
        """The last labels of all domains, in order."""
        return sorted(
            {key.lower().rstrip(".").rsplit(".", 1)[-1] for key in await self.repository.list_keys("domain")}
        )

    async def list_class(self, object_class: str, cursor: str | None, limit: int) -> ObjectPage:
        """Objects of a class. Raises ObjectClassUnknown or InvalidInput."""
        ended = read_cursor(cursor, str, int)
        after = (str(ended[0]), int(ended[1])) if ended else None
        found = await self.repository.list_class(class_named(object_class), after, limit + 1)
        return ObjectPage(items=[each[2] for each in found[:limit]], next=_next(found, limit))

    async def backlinks(
        self, found: FoundObject, attribute: str | None, cursor: str | None, limit: int
    ) -> BacklinkPage:
        """Objects that name this one. Raises InvalidInput."""
        ended = read_cursor(cursor, str, int)
        after = (str(ended[0]), int(ended[1])) if ended else None
        links = await self.repository.list_backlinks(found, attribute, after, limit + 1)
        return BacklinkPage(items=[each[2] for each in links[:limit]], next=_next(links, limit))

    async def naming(
        self, object_class: str, key: str, classes: Collection[str], limit: int
    ) -> Sequence[FoundObject]:
        """Good objects of these classes that name this one. Raises as `find`."""
        return await self.repository.list_naming(await self.find(object_class, key), classes, limit)

    async def problems(
        self, code: ProblemCode | None, severity: Severity | None, cursor: str | None, limit: int
    ) -> ProblemPage:
        """What is wrong with files. Raises InvalidInput."""
        ended = read_cursor(cursor, str, int)
        after = (str(ended[0]), int(ended[1])) if ended else None
        codes = [each for each, of in SEVERITY_OF.items() if code in {None, each} and severity in {None, of}]
        found = await self.repository.list_problems(after, limit + 1, ProblemFilter(None, codes))
        more = write_cursor(*found[limit - 1][0]) if len(found) > limit else None
        return ProblemPage(items=[read for _, read in found[:limit]], next=more)


def class_named(name: str) -> str:
    """The class of this name or of this directory. Raises ObjectClassUnknown."""
    known = CLASS_OF_DIRECTORY.get(name.lower(), name.lower())
    if known not in CLASSES:
        raise ObjectClassUnknown
    return known


def _spellings(object_class: str, key: str) -> list[str]:
    """How the key may stand in the index: PostgreSQL takes no NUL, and no key has a control character."""
    if not key.isprintable():
        return []
    spellings = [key, key_of(object_class, key)]
    if object_class in PREFIX_CLASSES:
        with suppress(PrefixRefused):
            spellings.append(parse_prefix(spellings[-1]).text)
    return list(dict.fromkeys(spellings))


def _next(found: Sequence[tuple[Part, Part, Item]], limit: int) -> str | None:
    return write_cursor(*found[limit - 1][:2]) if len(found) > limit else None
