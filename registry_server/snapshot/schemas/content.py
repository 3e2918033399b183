"""One sync of the registry in memory. Nothing in it changes; a new sync makes a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from registry_server.objects.schemas import Prefix
from registry_server.snapshot.schemas.prefixes import PrefixIndex


class Entry(NamedTuple):
    """One object."""

    object_class: str
    key: str
    folded: str
    raw: bytes
    asn: int | None
    #: False for a broken object, which is found by its key and from which nothing is derived.
    indexed: bool


class Origin(NamedTuple):
    """One prefix that one AS may originate, and the object that says so."""

    prefix: Prefix
    origin: int
    max_length: int | None
    entry: int


class NamedSet(NamedTuple):
    """An as-set or route-set; members are in upper case, those that joined by reference among them."""

    object_class: str
    members: tuple[str, ...]


class Block(NamedTuple):
    """An as-block."""

    first: int
    last: int
    entry: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Where the mirror stands; read each second."""

    version: int
    commit: str | None
    applied_at: datetime | None
    checked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Rows:
    """What is read from SQL for a snapshot, all of one transaction."""

    facts: Facts
    objects: Sequence[Sequence[Any]] = ()
    references: Sequence[Sequence[Any]] = ()
    routes: Sequence[Sequence[Any]] = ()
    filters: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Originated:
    """The prefixes of one family: texts in the order of addresses, and which of them each AS originates."""

    texts: Sequence[str]
    by_origin: Mapping[int, Sequence[int]]
    #: Origin → the whole answer to a query for its prefixes.
    answers: Mapping[int, bytes]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that the protocols answer from. Entries are named by their place in `entries`."""

    facts: Facts
    entries: Sequence[Entry]
    by_key: Mapping[str, Sequence[int]]
    by_asn: Mapping[int, int]
    #: What persons and roles are called, in small letters.
    names: Sequence[tuple[str, int]]
    blocks: Sequence[Block]
    #: Attribute → folded value → entries.
    inverse: Mapping[str, Mapping[str, Sequence[int]]]
    networks: PrefixIndex
    routes: PrefixIndex
    origins: Sequence[Origin]
    origins_of: Mapping[int, Sequence[int]]
    originated: Mapping[int, Originated]
    sets: Mapping[str, NamedSet]
    filters: Mapping[str, bytes]
