"""The shortest way from one object to another, searched from both ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Link(NamedTuple):
    """One object names another: seen from `near`, which is the one that names where `forward`."""

    near: int
    far: int
    attribute: str
    forward: bool

    def turned(self) -> Link:
        """The same, seen from its other end."""
        return Link(self.far, self.near, self.attribute, not self.forward)


@dataclass(slots=True)
class Side:
    """What is reached from one end."""

    end: int
    #: The link by which each object was reached; the end itself by none.
    reached: dict[int, Link | None] = field(default_factory=dict)
    frontier: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, end: int) -> Side:
        """Nothing but the end."""
        return cls(end, {end: None}, [end])

    def grow(self, links: Iterable[Link]) -> None:
        """One step further."""
        self.frontier = []
        for link in links:
            if link.far not in self.reached:
                self.reached[link.far] = link
                self.frontier.append(link.far)

    def way_to(self, ident: int) -> list[Link]:
        """The links from the end to an object that was reached."""
        way: list[Link] = []
        while (link := self.reached[ident]) is not None:
            way.append(link)
            ident = link.near
        return way[::-1]


def joined(start: Side, goal: Side) -> list[Link] | None:
    """A shortest way from one end to the other, or None while the two sides have not met."""
    shared = start.reached.keys() & goal.reached.keys()
    ways = (
        [*start.way_to(each), *(link.turned() for link in reversed(goal.way_to(each)))]
        for each in sorted(shared)
    )
    return min(ways, key=len, default=None)
