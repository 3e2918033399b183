"""Which peerings of a node a page shows: those that a person looks for, the worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from control_server.peerings.schemas import PeeringRead, SessionSeen

#: Peerings on one page of the list.
PAGE = 100
_WORST_FIRST = ("down", "unknown", "disabled", "ok")


@dataclass(frozen=True, slots=True)
class PeeringPage:
    """Some of the peerings that were found, and how many there are."""

    items: Sequence[PeeringRead]
    found: int
    #: The number of the first of them, from 1.
    first: int
    page: int
    pages: int


def peering_page(
    peerings: Sequence[PeeringRead], seen: Mapping[str, SessionSeen], words: str, page: int
) -> PeeringPage:
    """The page of this number, or the last one where there are fewer."""
    found = sorted(_matching(peerings, words), key=lambda each: (_rank(each, seen), each.name))
    pages = max(1, -(-len(found) // PAGE))
    page = min(page, pages)
    start = (page - 1) * PAGE
    return PeeringPage(found[start : start + PAGE], len(found), start + 1, page, pages)


def _matching(peerings: Sequence[PeeringRead], words: str) -> list[PeeringRead]:
    wanted = words.lower().split()
    return [each for each in peerings if all(word in _searchable(each) for word in wanted)]


def _searchable(peering: PeeringRead) -> str:
    return f"{peering.name} as{peering.asn} {peering.description}".lower()


def _rank(peering: PeeringRead, seen: Mapping[str, SessionSeen]) -> int:
    return _WORST_FIRST.index(seen[peering.name].state if peering.enabled else "disabled")
