"""What differs between sessions and prefixes: how they are read, written, joined, and followed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from control_server.flaps.repository import FlapTables, Holding
from control_server.flaps.rules import joining, writing
from control_server.flaps.rules.looks import Happening, SeenNode, SessionBase
from control_server.flaps.rules.prefixes import Bucket, PrefixBase, SeenReport, report
from control_server.flaps.rules.score import Tally
from control_server.flaps.rules.sessions import advance
from control_server.flaps.schemas import SubjectKind

BaseT = TypeVar("BaseT", SessionBase, PrefixBase)
SeenT = TypeVar("SeenT", SeenNode, SeenReport)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[BaseT]):
    """One step: what is remembered now, what happened, the rate, and whether there was anything new."""

    base: BaseT
    happenings: tuple[Happening, ...]
    bucket: Bucket | None
    taken: bool


@dataclass(frozen=True, slots=True)
class Wanted(Generic[BaseT]):
    """What SQL is to keep."""

    base: BaseT
    #: What stands there; None where that is not known, and all of it is written.
    before: BaseT | None = None
    #: Since when it counts, where it began with nothing.
    from_nothing: float | None = None


class Book(ABC, Generic[BaseT, SeenT]):
    """One kind of hot state."""

    kind: ClassVar[SubjectKind]

    @abstractmethod
    def decode(self, blob: Mapping[str, Any]) -> BaseT:
        """The state of a blob."""

    @abstractmethod
    def encode(self, base: BaseT) -> dict[str, Any]:
        """The blob of a state."""

    @abstractmethod
    def join(self, tier: BaseT | None, table: BaseT | None, held: Holding) -> BaseT | None:
        """What the tier and SQL know together."""

    @abstractmethod
    def step(self, base: BaseT | None, seen: SeenT) -> Outcome[BaseT]:
        """Take one report in."""

    @abstractmethod
    def tallies(self, base: BaseT) -> Iterable[Tally]:
        """Every score."""

    @abstractmethod
    async def read(self, tables: FlapTables, held: Holding) -> BaseT | None:
        """What SQL keeps."""

    @abstractmethod
    async def write(self, tables: FlapTables, held: Holding, wanted: Wanted[BaseT]) -> None:
        """Let SQL keep all of it."""


class SessionBook(Book[SessionBase, SeenNode]):
    """Sessions of a node."""

    kind = SubjectKind.SESSION

    def decode(self, blob: Mapping[str, Any]) -> SessionBase:
        """The state of a blob."""
        return writing.read_sessions(blob)

    def encode(self, base: SessionBase) -> dict[str, Any]:
        """The blob of a state."""
        return writing.write_sessions(base)

    def join(self, tier: SessionBase | None, table: SessionBase | None, held: Holding) -> SessionBase | None:
        """What the tier and SQL know together."""
        return joining.join_sessions(tier, table, held.kept)

    def step(self, base: SessionBase | None, seen: SeenNode) -> Outcome[SessionBase]:
        """Take one snapshot in."""
        found = advance(base, seen)
        return Outcome(found.base, found.happenings, None, found.taken)

    def tallies(self, base: SessionBase) -> Iterable[Tally]:
        """Every score."""
        return [base.node, *(entry.tally for entry in base.sessions.values())]

    async def read(self, tables: FlapTables, held: Holding) -> SessionBase | None:
        """What SQL keeps."""
        return await tables.read_sessions(held)

    async def write(self, tables: FlapTables, held: Holding, wanted: Wanted[SessionBase]) -> None:
        """Let SQL keep all of it."""
        await tables.write_sessions(held, wanted.base, from_nothing=wanted.from_nothing)


class PrefixBook(Book[PrefixBase, SeenReport]):
    """Prefixes of a node."""

    kind = SubjectKind.PREFIX

    def decode(self, blob: Mapping[str, Any]) -> PrefixBase:
        """The state of a blob."""
        return writing.read_prefixes(blob)

    def encode(self, base: PrefixBase) -> dict[str, Any]:
        """The blob of a state."""
        return writing.write_prefixes(base)

    def join(self, tier: PrefixBase | None, table: PrefixBase | None, held: Holding) -> PrefixBase | None:
        """What the tier and SQL know together."""
        return joining.join_prefixes(tier, table, held.kept)

    def step(self, base: PrefixBase | None, seen: SeenReport) -> Outcome[PrefixBase]:
        """Take one report in."""
        found = report(base, seen)
        return Outcome(found.base, found.happenings, found.bucket, found.taken)

    def tallies(self, base: PrefixBase) -> Iterable[Tally]:
        """Every score."""
        return [entry.tally for entry in base.prefixes.values()]

    async def read(self, tables: FlapTables, held: Holding) -> PrefixBase | None:
        """What SQL keeps."""
        return await tables.read_prefixes(held)

    async def write(self, tables: FlapTables, held: Holding, wanted: Wanted[PrefixBase]) -> None:
        """Let SQL keep all of it."""
        await tables.write_prefixes(held, wanted.base, wanted.before, from_nothing=wanted.from_nothing)
