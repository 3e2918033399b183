"""What the registry says of other networks: shown beside forms, held against prefixes, made into filters."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog

from control_server.neighbours import rules
from control_server.neighbours.errors import RegistryAway
from control_server.neighbours.models import LearnedRoutes
from control_server.neighbours.repository import LearnedRepository
from control_server.neighbours.schemas import (
    Known,
    LearnedRead,
    NeighbourChecks,
    NeighbourRead,
    PrefixCheck,
    RouteObject,
)
from control_server.neighbours.store import AsnObject, RegistryService
from shared.database import Database
from shared.kernel.clock import Clock
from shared.protocol.registry import AsnIdentities

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Asks the registry. Opens transactions of its own, never while it waits for an answer."""

    registry: RegistryService
    database: Database
    now: Clock

    async def describe(self, asn: int) -> NeighbourRead:
        """What is known of a network; that the registry is away is an answer, too."""
        try:
            found, identities, routes = await asyncio.gather(
                self.registry.find_asn(asn), self.registry.find_identities(asn), self._routes(asn)
            )
        except RegistryAway:
            return NeighbourRead(asn=asn, known=Known.AWAY, routes_known=False)
        if found is None:
            return NeighbourRead(
                asn=asn, known=Known.NO, routes=routes or [], routes_known=routes is not None
            )
        return _described(asn, found, identities, routes)

    async def check(self, asn: int, prefixes: Collection[rules.Network]) -> NeighbourChecks:
        """Hold prefixes against the route objects of a network."""
        try:
            routes = await self.registry.list_routes(asn)
        except RegistryAway:
            items = [PrefixCheck(prefix=prefix, verdict=Known.AWAY) for prefix in prefixes]
        else:
            items = [rules.may_originate(routes, prefix) for prefix in prefixes]
        return NeighbourChecks(asn=asn, items=items)

    async def learn(self, *sources: str) -> set[str]:
        """Ask for route objects that filters are made of; the sources whose objects are others than before.

        Where the registry is away, the last answer stays.
        """
        changed = set()
        for source in sources:
            try:
                answer: list[RouteObject] | None = await self.registry.list_routes_of(source)
                problem = ""
            except RegistryAway as refusal:
                answer, problem = None, refusal.detail
                log.warning("registry.away", source=source)
            if await self._keep(source, answer, problem):
                changed.add(source)
        return changed

    async def introduce(self, source: str) -> None:
        """Ask for route objects that nobody has asked for yet, before a filter is made of them."""
        async with self.database.reading() as session:
            row = (await LearnedRepository(session).list([source])).get(source)
        if row is None or row.routes is None:
            await self.learn(source)

    async def forget_but(self, sources: Collection[str]) -> None:
        """Forget what no filter is made of any more."""
        async with self.database.transaction() as session:
            await LearnedRepository(session).forget_but(sources)

    async def _keep(self, source: str, answer: list[RouteObject] | None, problem: str) -> bool:
        at = self.now()
        routes = None if answer is None else [route.model_dump(mode="json") for route in answer]
        async with self.database.transaction() as session:
            rows = LearnedRepository(session)
            before = (await rows.list([source])).get(source)
            kept = before.routes if before is not None else None
            fresh = routes is not None
            row = LearnedRoutes(
                source=source,
                routes=routes if fresh else kept,
                asked_at=at,
                answered_at=at if fresh else (before.answered_at if before is not None else None),
                problem=problem,
            )
            await rows.put(row)
        return fresh and routes != kept

    async def _routes(self, asn: int) -> list[RouteObject] | None:
        try:
            return await self.registry.list_routes(asn)
        except RegistryAway:
            return None


@dataclass(frozen=True, slots=True)
class LearnedBook:
    """Learned route objects as one session sees them."""

    rows: LearnedRepository

    async def routes(self) -> Mapping[str, Sequence[RouteObject]]:
        """Route objects by source, of those that the registry has told."""
        return {
            source: [RouteObject.model_validate(route) for route in row.routes]
            for source, row in (await self.rows.list()).items()
            if row.routes is not None
        }

    async def find(self, source: str) -> LearnedRead | None:
        """How a source stands."""
        row = (await self.rows.list([source])).get(source)
        if row is None:
            return None
        return LearnedRead(
            source=source,
            routes=len(row.routes) if row.routes is not None else None,
            answered_at=row.answered_at,
            asked_at=row.asked_at,
            problem=row.problem,
        )


def _described(
    asn: int, found: AsnObject, identities: AsnIdentities | None, routes: list[RouteObject] | None
) -> NeighbourRead:
    mntners = [entry.mntner for entry in identities.mntners] if identities is not None else []
    return NeighbourRead(
        asn=asn,
        known=Known.YES,
        as_name=found.as_name,
        mntners=mntners or found.mnt_by,
        contacts=list(dict.fromkeys([*found.admin_c, *found.tech_c])),
        routes=routes or [],
        routes_known=routes is not None,
    )
