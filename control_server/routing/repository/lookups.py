"""Look-ups of routes by node, prefix and origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import distinct, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.routing.models import RouteChange, RouteRow, RoutingState
from control_server.routing.repository.numbers import rank, validity_of
from control_server.routing.schemas import PrefixSummary, RouteQuery
from shared.protocol.reports import Validity

_ACTIVE = (RouteRow.best.is_(True), RouteRow.filtered.is_(False))
#: Stands between the parts of a cursor; no prefix and no name of a protocol holds it.
_SEPARATOR = "|"
_PARTS = 4


@dataclass(frozen=True, slots=True)
class LookupRepository:
    """Look-ups in one session."""

    session: AsyncSession

    async def table(
        self, node_id: str, wanted: RouteQuery, span: tuple[str, str] | None
    ) -> tuple[Sequence[RouteRow], str | None]:
        """Routes of a node in the order of their addresses, and the cursor of what follows."""
        order = (RouteRow.lowest, RouteRow.length, RouteRow.protocol, RouteRow.ordinal)
        query = select(RouteRow).where(RouteRow.node_id == node_id, *_conditions(wanted))
        if span is not None:
            query = query.where(RouteRow.lowest.between(*span))
        parts = wanted.after.split(_SEPARATOR)
        if len(parts) == _PARTS and parts[1].isdecimal() and parts[3].isdecimal():
            place: list[Any] = [parts[0], int(parts[1]), parts[2], int(parts[3])]
            query = query.where(tuple_(*order) > tuple_(*place))
        rows = (await self.session.scalars(query.order_by(*order).limit(wanted.limit + 1))).all()
        if len(rows) <= wanted.limit:
            return rows, None
        last = rows[wanted.limit - 1]
        cursor = _SEPARATOR.join((last.lowest, str(last.length), last.protocol, str(last.ordinal)))
        return rows[: wanted.limit], cursor

    async def of_prefix(self, prefix: str) -> Sequence[RouteRow]:
        """Every route of a prefix on any node, the best of a node first."""
        order = (RouteRow.node_id, RouteRow.best.desc(), RouteRow.filtered, RouteRow.protocol)
        wanted = select(RouteRow).where(RouteRow.prefix == prefix).order_by(*order)
        return (await self.session.scalars(wanted.limit(1000))).all()

    async def of_origin(self, asn: int, limit: int) -> Sequence[RouteRow]:
        """Routes of an origin that filters have refused."""
        wanted = (
            select(RouteRow)
            .where(RouteRow.origin == asn, RouteRow.filtered.is_(True))
            .order_by(RouteRow.lowest, RouteRow.node_id)
        )
        return (await self.session.scalars(wanted.limit(limit))).all()

    async def named(self, prefixes: Sequence[str]) -> list[PrefixSummary]:
        """Those of the prefixes that some node has, the longest first."""
        found = await self._summaries(RouteRow.prefix.in_(prefixes), len(prefixes))
        return sorted(found, key=lambda summary: int(summary.prefix.partition("/")[2]), reverse=True)

    async def within(self, lowest: str, highest: str, length: int, limit: int) -> list[PrefixSummary]:
        """Prefixes more specific than one, in order."""
        inside = (RouteRow.lowest >= lowest) & (RouteRow.lowest <= highest) & (RouteRow.length > length)
        return await self._summaries(inside, limit)

    async def originated(self, asn: int, limit: int) -> list[PrefixSummary]:
        """Prefixes of an origin, in order."""
        return await self._summaries(RouteRow.origin == asn, limit)

    async def invalid(self, limit: int) -> list[PrefixSummary]:
        """Prefixes with a best route that origin validation calls invalid."""
        return await self._summaries(RouteRow.validity == Validity.INVALID.value, limit)

    async def history(self, prefix: str, limit: int) -> Sequence[RouteChange]:
        """What became of a prefix, the newest first."""
        wanted = (
            select(RouteChange)
            .where(RouteChange.prefix == prefix)
            .order_by(RouteChange.at.desc(), RouteChange.node_id)
        )
        return (await self.session.scalars(wanted.limit(limit))).all()

    async def recent(self, node_id: str, limit: int) -> Sequence[RouteChange]:
        """What became of any prefix on a node, the newest first."""
        wanted = (
            select(RouteChange)
            .where(RouteChange.node_id == node_id)
            .order_by(RouteChange.at.desc(), RouteChange.prefix)
        )
        return (await self.session.scalars(wanted.limit(limit))).all()

    async def told(self) -> Sequence[str]:
        """Nodes whose tables were told as a whole."""
        wanted = select(RoutingState.node_id).where(RoutingState.complete_at.is_not(None))
        return (await self.session.scalars(wanted.order_by(RoutingState.node_id))).all()

    async def _summaries(self, condition: Any, limit: int) -> list[PrefixSummary]:
        """Prefixes that meet a condition, in the order of their addresses, by two statements."""
        wanted = (
            select(RouteRow.prefix, func.count(distinct(RouteRow.node_id)), func.max(rank()))
            .where(*_ACTIVE, condition)
            .group_by(RouteRow.lowest, RouteRow.length, RouteRow.prefix)
            .order_by(RouteRow.lowest, RouteRow.length)
            .limit(limit)
        )
        rows = (await self.session.execute(wanted)).all()
        origins = await self._origins([prefix for prefix, _, _ in rows])
        return [
            PrefixSummary(
                prefix=prefix, nodes=nodes, origins=origins.get(prefix, []), validity=validity_of(worst)
            )
            for prefix, nodes, worst in rows
        ]

    async def _origins(self, prefixes: Sequence[str]) -> dict[str, list[int]]:
        if not prefixes:
            return {}
        wanted = (
            select(RouteRow.prefix, RouteRow.origin)
            .where(*_ACTIVE, RouteRow.prefix.in_(prefixes), RouteRow.origin.is_not(None))
            .distinct()
            .order_by(RouteRow.origin)
        )
        found: dict[str, list[int]] = {}
        for prefix, origin in await self.session.execute(wanted):
            found.setdefault(prefix, []).append(int(origin or 0))
        return found


def _conditions(wanted: RouteQuery) -> list[Any]:
    equal = {
        RouteRow.protocol: wanted.protocol,
        RouteRow.origin: wanted.origin,
        RouteRow.filtered: wanted.filtered,
        RouteRow.best: wanted.best,
    }
    found: list[Any] = [column == value for column, value in equal.items() if value is not None]
    if wanted.invalid:
        found.append(RouteRow.validity == Validity.INVALID.value)
    return found
