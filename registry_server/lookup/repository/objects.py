"""SQL of look-ups, all of one snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.lookup.rules.stored import StoredObject, StoredRoute
from registry_server.mirror.models import MirrorState
from registry_server.objects.models import ObjectRow, ReferenceRow, RouteRow
from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.grammar import parse


@dataclass(frozen=True, slots=True)
class LookupRepository:
    """Reads the index inside one snapshot."""

    session: AsyncSession

    async def version(self) -> int:
        """The applied sync that this snapshot shows."""
        return (await self.session.scalars(select(MirrorState.version))).one()

    async def find_aut_num(self, number: int) -> StoredObject | None:
        """The object of an AS number, unless it is broken."""
        return await self._find(ObjectRow.object_class == "aut-num", ObjectRow.asn == number)

    async def find_mntner(self, name: str) -> StoredObject | None:
        """The object of a maintainer, in any case of the name, unless it is broken."""
        return await self._find(ObjectRow.object_class == "mntner", ObjectRow.folded == fold(name))

    async def find_certificate(self, name: str) -> StoredObject | None:
        """A key certificate, unless it is broken."""
        return await self._find(ObjectRow.object_class == "key-cert", ObjectRow.folded == fold(name))

    async def list_maintained_asns(self, name: str) -> list[int]:
        """The AS numbers whose objects name the maintainer, in order."""
        statement = (
            select(ObjectRow.asn)
            .join(ReferenceRow, ReferenceRow.object_id == ObjectRow.id)
            .where(ReferenceRow.target == fold(name), ReferenceRow.attribute == "mnt-by")
            .where(ObjectRow.object_class == "aut-num", ObjectRow.asn.is_not(None))
            .order_by(ObjectRow.asn)
            .distinct()
        )
        return [number for number in await self.session.scalars(statement) if number is not None]

    async def list_routes(self, origin: int, limit: int) -> list[StoredRoute]:
        """The first routes of an origin in the order of their addresses."""
        statement = _routes_of(origin, limit, RouteRow.object_id, RouteRow.prefix, RouteRow.max_length)
        return [StoredRoute(*row) for row in await self.session.execute(statement)]

    async def list_route_maintainers(self, origin: int, limit: int) -> dict[int, list[str]]:
        """The maintainers of each of the first route objects of an origin."""
        first = _routes_of(origin, limit, RouteRow.object_id).subquery()
        statement = (
            select(ReferenceRow.object_id, ReferenceRow.shown)
            .where(ReferenceRow.object_id.in_(select(first.c.object_id)), ReferenceRow.attribute == "mnt-by")
            .order_by(ReferenceRow.object_id, ReferenceRow.position)
        )
        found: dict[int, list[str]] = {}
        for object_id, shown in await self.session.execute(statement):
            found.setdefault(object_id, []).append(shown)
        return found

    async def _find(self, *which: ColumnElement[bool]) -> StoredObject | None:
        """The first by path: names that differ in their case alone are a mistake of the registry's."""
        statement = select(ObjectRow.id, ObjectRow.path, ObjectRow.key, ObjectRow.raw).where(*which)
        statement = statement.where(ObjectRow.indexed).order_by(ObjectRow.path).limit(1)
        row = (await self.session.execute(statement)).one_or_none()
        if row is None:
            return None
        attributes, _ = parse(row.raw)
        return StoredObject(row.path, row.key, row.raw, [(each.name, each.value) for each in attributes])


def _routes_of(origin: int, limit: int, *columns: Any) -> Select[Any]:
    order = (RouteRow.family, RouteRow.first, RouteRow.length, RouteRow.object_id)
    return select(*columns).where(RouteRow.origin == origin).order_by(*order).limit(limit)
