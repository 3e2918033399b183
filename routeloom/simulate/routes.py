"""The routes of a simulated node: which session tells it of which prefix, and what it makes of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routeloom.simulate.plan import Plan
from shared.protocol.reports import MAX_CHANGES, PrefixChange, Route, Validity

#: Two sessions tell of each prefix, so that most of them have another way.
_TELLERS = 2
_INVALID_EVERY = 50
_UNKNOWN_EVERY = 13
#: What the import filter leaves on a route whose origin may not announce it.
_INVALID_ORIGIN = 13
_FIRST_ORIGIN = 4242429900


def prefix_name(index: int) -> str:
    """A prefix out of the ranges that are kept free for documentation and for measurements."""
    if index % 2:
        return f"198.{18 + index // 2 // 4096 % 2}.{index // 2 // 16 % 256}.{index // 2 % 16 * 16}/28"
    return f"2001:db8:{index // 2 + 1:x}::/48"


def validity_of(index: int) -> Validity:
    """What origin validation says of a prefix."""
    if index % _INVALID_EVERY == 0:
        return Validity.INVALID
    return Validity.NOT_FOUND if index % _UNKNOWN_EVERY == 0 else Validity.VALID


def prefixes_of(plan: Plan, node: int) -> range:
    """The prefixes that a node hears of; half of them its neighbour in the row hears of as well."""
    first = node * (plan.prefixes // 2)
    return range(first, first + plan.prefixes)


@dataclass
class Table:
    """The routes of one node, and what the server has not been told of them."""

    plan: Plan
    node: int
    #: Prefixes whose routes differ from what was told last.
    changed: set[int] = field(default_factory=set)

    def tellers(self, index: int) -> tuple[int, ...]:
        """The sessions that tell of a prefix, the preferred one first."""
        return tuple((index + step) % self.plan.sessions for step in range(_TELLERS))

    def session_changed(self, session: int) -> None:
        """What a session tells of has come or gone."""
        self.changed |= {index for index in self.prefixes if session in self.tellers(index)}

    @property
    def prefixes(self) -> range:
        """Everything that may be in it."""
        return prefixes_of(self.plan, self.node)

    def known(self, since: Mapping[int, datetime]) -> set[int]:
        """The prefixes that have a route now. `since`: sessions that are up, and from when."""
        return {index for index in self.prefixes if any(teller in since for teller in self.tellers(index))}

    def routes(self, index: int, since: Mapping[int, datetime]) -> list[Route]:
        """The routes of one prefix now."""
        invalid = validity_of(index) is Validity.INVALID
        up = [teller for teller in self.tellers(index) if teller in since]
        origin = _FIRST_ORIGIN + index % 100
        return [
            Route(
                protocol=session_name(teller),
                ordinal=0,
                best=place == 0 and not invalid,
                filtered=invalid,
                reason=_INVALID_ORIGIN if invalid else None,
                origin=origin,
                path=f"{session_asn(self.node, teller)} {origin}",
                hops=2,
                validity=validity_of(index),
                next_hop=f"fe80::{teller + 1:x}",
                local_pref=100,
                since=since[teller],
            )
            for place, teller in enumerate(up)
        ]

    def told(self, indexes: Iterable[int], since: Mapping[int, datetime]) -> list[list[PrefixChange]]:
        """What to tell of these prefixes, in pieces that fit into a report; at least one, perhaps empty."""
        changes = [(prefix_name(index), self.routes(index, since)) for index in sorted(indexes)]
        pieces = [changes[at : at + MAX_CHANGES] for at in range(0, len(changes), MAX_CHANGES)]
        return pieces or [[]]


def session_name(session: int) -> str:
    """The name of a session in BIRD."""
    return f"peer{session + 1:02d}"


def session_asn(node: int, session: int) -> int:
    """The neighbour of a session."""
    return _FIRST_ORIGIN + (node * 7 + session) % 100
