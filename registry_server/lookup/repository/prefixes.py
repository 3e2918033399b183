"""SQL of address blocks. Packed addresses compare as bytes, so both databases answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, literal, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.objects.models import NetworkRow, RouteRow
from registry_server.objects.schemas import Prefix

_BITS = {4: 32, 6: 128}
_Block = type[NetworkRow] | type[RouteRow]


class FoundBlock(NamedTuple):
    """One block of the index."""

    object_id: int
    first: bytes
    length: int
    prefix: str
    is_route: bool


@dataclass(frozen=True, slots=True)
class PrefixRepository:
    """Networks and routes inside one snapshot."""

    session: AsyncSession

    async def list_covering(self, wanted: Prefix) -> list[FoundBlock]:
        """Every block that contains this one, itself included, the nearest first.

        One look at the index for each length that there can be, instead of a scan over all that starts lower.
        """
        starts = covering_starts(wanted)

        def covers(model: _Block) -> ColumnElement[bool]:
            return (
                (model.family == wanted.family)
                & model.first.in_(starts)
                & (model.last >= wanted.last)
                & (model.length <= wanted.length)
            )

        blocks = _blocks(covers).subquery()
        query = select(blocks).order_by(blocks.c.length.desc(), blocks.c.is_route, blocks.c.object_id)
        return [FoundBlock(*row) for row in await self.session.execute(query)]

    async def list_inside(
        self, wanted: Prefix, after: tuple[bytes, int, int] | None, limit: int
    ) -> list[FoundBlock]:
        """Blocks strictly inside this one, by address and length."""

        def inside(model: _Block) -> ColumnElement[bool]:
            return (
                (model.family == wanted.family)
                & model.first.between(wanted.first, wanted.last)
                & (model.length > wanted.length)
            )

        blocks = _blocks(inside).subquery()
        keys = (blocks.c.first, blocks.c.length, blocks.c.object_id)
        query = select(blocks).order_by(*keys).limit(limit)
        if after is not None:
            query = query.where(tuple_(*keys) > tuple_(*map(literal, after)))
        return [FoundBlock(*row) for row in await self.session.execute(query)]

    async def list_origins(self, idents: Sequence[int]) -> dict[int, list[tuple[int, int | None]]]:
        """Origin and longest announcement of each route object, in order."""
        query = select(RouteRow.object_id, RouteRow.origin, RouteRow.max_length)
        query = query.where(RouteRow.object_id.in_(idents)).order_by(RouteRow.object_id, RouteRow.origin)
        found: dict[int, list[tuple[int, int | None]]] = {}
        for object_id, origin, max_length in await self.session.execute(query):
            found.setdefault(object_id, []).append((origin, max_length))
        return found


def covering_starts(wanted: Prefix) -> list[bytes]:
    """First addresses of all blocks that could contain this one."""
    bits = _BITS[wanted.family]
    number = int.from_bytes(wanted.first)
    starts = {number >> (bits - length) << (bits - length) for length in range(wanted.length + 1)}
    return [start.to_bytes(bits // 8) for start in sorted(starts)]


def _blocks(condition: Any) -> Any:
    return union_all(_select(NetworkRow, is_route=False).where(condition(NetworkRow)), _routes(condition))


def _routes(condition: Any) -> Any:
    return _select(RouteRow, is_route=True).where(condition(RouteRow)).distinct()


def _select(model: _Block, *, is_route: bool) -> Any:
    flag = literal(is_route).label("is_route")
    return select(model.object_id, model.first, model.length, model.prefix, flag)
