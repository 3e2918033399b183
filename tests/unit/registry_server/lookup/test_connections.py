"""The search for the shortest way, held against a search from one end alone."""

from collections import deque
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from registry_server.lookup.rules.connections import Link, Side, joined

_EDGES = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=16)


def links_of(edges: set[tuple[int, int]], frontier: list[int]) -> list[Link]:
    """What a repository would list."""
    forward = [Link(near, far, "to", forward=True) for near, far in sorted(edges) if near in frontier]
    backward = [Link(far, near, "to", forward=False) for near, far in sorted(edges) if far in frontier]
    return [*forward, *backward]


def distance(edges: set[tuple[int, int]], first: int, last: int) -> int | None:
    """The length of the shortest way."""
    found, waiting = {first: 0}, deque([first])
    while waiting:
        here = waiting.popleft()
        for link in links_of(edges, [here]):
            if link.far not in found:
                found[link.far] = found[here] + 1
                waiting.append(link.far)
    return found.get(last)


@given(edges=_EDGES, first=st.integers(0, 8), last=st.integers(0, 8))
def test_two_sides_meet_on_a_shortest_way(edges: set[tuple[int, int]], first: int, last: int) -> None:
    sides = [Side.of(first), Side.of(last)]
    while (way := joined(*sides)) is None:
        side = min(sides, key=lambda each: len(each.frontier))
        if not side.frontier:
            break
        side.grow(links_of(edges, side.frontier))
    wanted = distance(edges, first, last)
    assert (None if way is None else len(way)) == wanted
    for link in way or []:
        assert ((link.near, link.far) if link.forward else (link.far, link.near)) in edges
    assert all(one.far == other.near for one, other in pairwise(way or []))
    if way:
        assert (way[0].near, way[-1].far) == (first, last)
