"""SQL of what leads from object to object: names in attributes, and the origins of routes; both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from registry_server.lookup.rules.connections import Link
from registry_server.objects.models import ObjectRow, ReferenceRow, RouteRow

#: Bound parameters of one part of a statement; there are four.
_CHUNK = 200


@dataclass(frozen=True, slots=True)
class LinkRepository:
    """Links inside one snapshot."""

    session: AsyncSession

    async def list_from(self, idents: Sequence[int]) -> list[Link]:
        """Every link that begins at one of these objects, whichever of its ends names the other."""
        found: list[Link] = []
        for start in range(0, len(idents), _CHUNK):
            query = union_all(*_links(idents[start : start + _CHUNK])).order_by("near", "far", "attribute")
            found += [Link(*row) for row in await self.session.execute(query)]
        return found


def _links(idents: Sequence[int]) -> list[Any]:
    named, number = aliased(ObjectRow), aliased(ObjectRow)
    names = and_(
        named.folded == ReferenceRow.target,
        (" " + ReferenceRow.classes + " ").like("% " + named.object_class + " %"),
    )
    is_origin = and_(number.asn == RouteRow.origin, number.object_class == "aut-num")
    attribute, origin = ReferenceRow.attribute.label("attribute"), literal("origin").label("attribute")
    forward, backward = literal(1).label("forward"), literal(0).label("forward")
    parts: list[Any] = []
    for holder, other, label, table, condition in (
        (ReferenceRow.object_id, named.id, attribute, ReferenceRow, names),
        (RouteRow.object_id, number.id, origin, RouteRow, is_origin),
    ):
        target = named if table is ReferenceRow else number
        for near, far, way in ((holder, other, forward), (other, holder, backward)):
            columns = (near.label("near"), far.label("far"), label, way)
            parts.append(
                select(*columns).select_from(table).join(target, condition).where(near.in_(idents)).distinct()
            )
    return parts
