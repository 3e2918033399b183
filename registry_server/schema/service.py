"""Reads the schemas of a registry, and holds its objects against them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from registry_server.lookup.service import class_named
from registry_server.objects.rules.classes import CLASSES, fold, key_of
from registry_server.objects.rules.cursors import read_cursor, write_cursor
from registry_server.objects.rules.grammar import parse
from registry_server.objects.rules.paths import place, show
from registry_server.objects.schemas import Attribute, FileVersion
from registry_server.schema.errors import SchemaNotReady
from registry_server.schema.rules.judging import Known, judge
from registry_server.schema.rules.reading import read_schemas
from registry_server.schema.schemas import ClassSchema, Finding, FindingPage, FindingRead, SchemaList
from registry_server.snapshot.schemas.content import Snapshot

_CLASS = "schema"
Schemas = Mapping[str, ClassSchema]


@dataclass(slots=True)
class _Read:
    """What was read of one snapshot; gone with it."""

    snapshot: Snapshot
    schemas: Schemas
    findings: Sequence[FindingRead] | None = None


@dataclass(slots=True)
class SchemaService:
    """One for a process. A snapshot is read when the first question about it comes."""

    current: Callable[[], Snapshot | None]
    _read: _Read | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def list_classes(self) -> SchemaList:
        """Every class. Raises SchemaNotReady."""
        return SchemaList(items=[*self._of_now().schemas.values()])

    def get(self, object_class: str) -> ClassSchema:
        """One class, by its name or its directory. Raises SchemaNotReady or ObjectClassUnknown."""
        return self._of_now().schemas[class_named(object_class)]

    def find(self, object_class: str) -> ClassSchema | None:
        """One class, or None before the first sync. Raises ObjectClassUnknown."""
        return None if self.current() is None else self.get(object_class)

    def findings_of(self, object_class: str, raw: bytes) -> list[Finding]:
        """What an object of the registry has against its schema; nothing before the first sync."""
        return [] if self.current() is None else self.judge(object_class, parse(raw)[0])

    def judge(
        self, object_class: str, attributes: Sequence[Attribute], known: Known | None = None
    ) -> list[Finding]:
        """What an object has against the schema of its class. Raises SchemaNotReady.

        `known` says which objects count as there; without it those of the registry.
        """
        read = self._of_now()
        return judge(read.schemas[object_class], attributes, known or _known(read.snapshot))

    async def findings(self, object_class: str | None, cursor: str | None, limit: int) -> FindingPage:
        """What all objects have against their schemas. Raises SchemaNotReady or InvalidInput."""
        ended = read_cursor(cursor, int)
        start = max(int(ended[0]), 0) if ended else 0
        wanted = None if object_class is None else class_named(object_class)
        found = [each for each in await self._all() if wanted in {None, each.object_class}]
        more = write_cursor(start + limit) if start + limit < len(found) else None
        return FindingPage(items=found[start : start + limit], total=len(found), next=more)

    async def _all(self) -> Sequence[FindingRead]:
        """Every finding, once a snapshot; off the event loop, for it reads every object."""
        read = self._of_now()
        async with self._turn:
            if read.findings is None:
                read.findings = await asyncio.to_thread(_judge_all, read.snapshot, read.schemas)
            return read.findings

    def _of_now(self) -> _Read:
        snapshot = self.current()
        if snapshot is None:
            raise SchemaNotReady
        if self._read is None or self._read.snapshot is not snapshot:
            self._read = _Read(snapshot, read_schemas(_schemas_in(snapshot)))
        return self._read


def find_findings(files: Sequence[FileVersion]) -> list[tuple[str, Finding]]:
    """What the objects of these files have against the schemas among them, by path."""
    objects: list[tuple[str, str, str, bytes]] = []
    for file in files:
        where, _ = place(file.path)
        if where is not None and file.raw is not None:
            key = key_of(where.object_class, where.file_name)
            objects.append((show(file.path), where.object_class, key, file.raw))
    schemas = read_schemas((key, raw) for _, name, key, raw in sorted(objects) if name == _CLASS)
    keys: dict[tuple[str, str], None] = {}
    parsed = []
    for path, name, key, raw in objects:
        attributes, _ = parse(raw)
        own = next((each.value for each in attributes if each.name == CLASSES[name].key), key)
        keys.update(dict.fromkeys(((name, fold(own)), (name, fold(key)))))
        parsed.append((path, name, attributes))

    def known(classes: Sequence[str], folded: str) -> bool:
        return any((name, folded) in keys for name in classes)

    return [
        (path, finding)
        for path, name, attributes in parsed
        for finding in judge(schemas[name], attributes, known)
    ]


def _schemas_in(snapshot: Snapshot) -> Iterable[tuple[str, bytes]]:
    found = [entry for entry in snapshot.entries if entry.object_class == _CLASS and entry.indexed]
    return [(entry.key, entry.raw) for entry in sorted(found, key=lambda entry: entry.folded)]


def _known(snapshot: Snapshot) -> Known:
    def known(classes: Sequence[str], folded: str) -> bool:
        places = snapshot.by_key.get(folded, ())
        return any(snapshot.entries[each].object_class in classes for each in places)

    return known


def _judge_all(snapshot: Snapshot, schemas: Schemas) -> list[FindingRead]:
    known = _known(snapshot)
    return [
        FindingRead.of(entry.object_class, entry.key, finding)
        for entry in sorted(snapshot.entries, key=lambda entry: (entry.object_class, entry.folded))
        if entry.indexed
        for finding in judge(schemas[entry.object_class], parse(entry.raw)[0], known)
    ]
