"""How two objects belong together: the shortest chain of names between them."""

from __future__ import annotations

from dataclasses import dataclass

from registry_server.lookup.errors import NoConnection
from registry_server.lookup.repository.catalogue import FoundObject
from registry_server.lookup.repository.links import LinkRepository
from registry_server.lookup.rules.connections import Link, Side, joined
from registry_server.lookup.schemas.connections import Connection, ConnectionStep
from registry_server.lookup.service.catalogue import CatalogueService

#: So many links are followed at most, and no side grows beyond so many objects: what is further apart belongs
#: together only as everything does.
_LONGEST, _MOST_REACHED = 8, 5000


@dataclass(frozen=True, slots=True)
class ConnectionService:
    """Chains inside one snapshot."""

    catalogue: CatalogueService
    links: LinkRepository

    async def between(self, start: tuple[str, str], goal: tuple[str, str]) -> Connection:
        """The shortest way between two objects, each a class and a key.

        Raises ObjectClassUnknown, ObjectUnknown or NoConnection.
        """
        first = await self.catalogue.find(*start)
        last = await self.catalogue.find(*goal)
        way = await self._way(first.id, last.id)
        found = await self.catalogue.repository.find_all([link.far for link in way])
        begin = ConnectionStep(object_class=first.object_class, key=first.key, attribute=None, named_by=None)
        return Connection(steps=[begin, *(_step(link, found[link.far]) for link in way)])

    async def _way(self, first: int, last: int) -> list[Link]:
        sides = [Side.of(first), Side.of(last)]
        for _ in range(_LONGEST + 1):
            way = joined(*sides)
            if way is not None:
                return way
            side = min(sides, key=lambda each: len(each.frontier))
            if not side.frontier or len(side.frontier) > _MOST_REACHED:
                break
            side.grow(await self.links.list_from(side.frontier))
        raise NoConnection


def _step(link: Link, found: FoundObject) -> ConnectionStep:
    named_by = "before" if link.forward else "this"
    return ConnectionStep(
        object_class=found.object_class, key=found.key, attribute=link.attribute, named_by=named_by
    )
