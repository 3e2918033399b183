"""Numbers of the tables, each by a constant number of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import case, distinct, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.routing.models import RouteRow, RoutingState
from control_server.routing.schemas import (
    FleetRoutingRead,
    OriginSummary,
    RpkiRead,
)
from shared.protocol.reports import Validity

#: The worst of several nodes counts for a prefix.
_RANKS = {Validity.UNCHECKED: 0, Validity.VALID: 1, Validity.NOT_FOUND: 2, Validity.INVALID: 3}
_BY_RANK = {rank: validity for validity, rank in _RANKS.items()}
_ACTIVE = (RouteRow.best.is_(True), RouteRow.filtered.is_(False))


class BestGroup(NamedTuple):
    """Best routes of a node that are alike."""

    family: int
    length: int
    validity: str
    hops: int | None
    routes: int


class ProtocolGroup(NamedTuple):
    """Routes of a node from one protocol that are alike."""

    protocol: str
    filtered: bool
    best: bool
    reason: int | None
    routes: int


@dataclass(frozen=True, slots=True)
class NumbersRepository:
    """Numbers in one session."""

    session: AsyncSession

    async def state(self, node_id: str) -> RoutingState | None:
        """How far the server is with a node."""
        return await self.session.get(RoutingState, node_id)

    async def best_groups(self, node_id: str) -> Sequence[BestGroup]:
        """The best routes of a node."""
        kinds = (RouteRow.family, RouteRow.length, RouteRow.validity, RouteRow.hops)
        wanted = select(*kinds, func.count()).where(RouteRow.node_id == node_id, *_ACTIVE).group_by(*kinds)
        return [BestGroup(*row) for row in await self.session.execute(wanted)]

    async def protocol_groups(self, node_id: str) -> Sequence[ProtocolGroup]:
        """All routes of a node."""
        kinds = (RouteRow.protocol, RouteRow.filtered, RouteRow.best, RouteRow.reason)
        wanted = select(*kinds, func.count()).where(RouteRow.node_id == node_id).group_by(*kinds)
        return [ProtocolGroup(*row) for row in await self.session.execute(wanted)]

    async def fleet(self) -> FleetRoutingRead:
        """All tables together, each prefix once."""
        nodes, newest = (
            await self.session.execute(
                select(func.count(RoutingState.complete_at), func.max(RoutingState.received_at))
            )
        ).one()
        routes, filtered, origins = (
            await self.session.execute(
                select(
                    func.count(),
                    func.sum(case((RouteRow.filtered.is_(True), 1), else_=0)),
                    func.count(distinct(case((_both(*_ACTIVE), RouteRow.origin)))),
                )
            )
        ).one()
        families: dict[int, int] = {}
        validities: dict[str, int] = {}
        for family, rank, count in await self.session.execute(_by_worst()):
            families[family] = families.get(family, 0) + count
            validity = _BY_RANK[rank].value
            validities[validity] = validities.get(validity, 0) + count
        return FleetRoutingRead(
            nodes=nodes,
            prefixes4=families.get(4, 0),
            prefixes6=families.get(6, 0),
            origins=origins,
            routes=routes,
            filtered=filtered or 0,
            rpki=RpkiRead.model_validate(validities),
            as_of=newest,
        )

    async def origins(self, limit: int, asn: int | None = None) -> tuple[list[OriginSummary], int]:
        """Origins by the number of their prefixes, and how many there are."""
        prefixes = func.count(distinct(RouteRow.prefix))
        wanted = select(
            RouteRow.origin,
            func.count(distinct(case((RouteRow.family == 4, RouteRow.prefix)))),  # noqa: PLR2004
            func.count(distinct(case((RouteRow.family == 6, RouteRow.prefix)))),  # noqa: PLR2004
            func.count(distinct(RouteRow.node_id)),
            func.count(distinct(case((RouteRow.validity == Validity.INVALID.value, RouteRow.prefix)))),
        ).where(*_ACTIVE, RouteRow.origin.is_not(None))
        if asn is not None:
            wanted = wanted.where(RouteRow.origin == asn)
        wanted = wanted.group_by(RouteRow.origin).order_by(prefixes.desc(), RouteRow.origin).limit(limit)
        found = [
            OriginSummary(asn=asn, prefixes4=four, prefixes6=six, nodes=nodes, invalid=invalid)
            for asn, four, six, nodes, invalid in await self.session.execute(wanted)
        ]
        total = select(func.count(distinct(RouteRow.origin))).where(*_ACTIVE)
        return found, await self.session.scalar(total) or 0

    async def states(self) -> Sequence[RoutingState]:
        """How far the server is with every node."""
        return (await self.session.scalars(select(RoutingState).order_by(RoutingState.node_id))).all()

    async def best_counts(self) -> dict[tuple[str, int], int]:
        """Prefixes of every node by family."""
        wanted = (
            select(RouteRow.node_id, RouteRow.family, func.count())
            .where(*_ACTIVE)
            .group_by(RouteRow.node_id, RouteRow.family)
        )
        return {(node, family): count for node, family, count in await self.session.execute(wanted)}


def rank() -> Any:
    """How bad the validity of a route is."""
    return case(
        *((RouteRow.validity == validity.value, number) for validity, number in _RANKS.items()), else_=0
    )


def validity_of(number: int) -> Validity:
    """The validity of a rank."""
    return _BY_RANK[number]


def _by_worst() -> Any:
    each = (
        select(RouteRow.family, func.max(rank()).label("worst"))
        .where(*_ACTIVE)
        .group_by(RouteRow.prefix, RouteRow.family)
        .subquery()
    )
    return select(each.c.family, each.c.worst, func.count()).group_by(each.c.family, each.c.worst)


def _both(one: Any, other: Any) -> Any:
    return one & other
