"""What the tables of nodes amount to: numbers, look-ups, histories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import structlog

from control_server.keys import ROUTING_FLEET, ROUTING_SUMMARY
from control_server.routing import rules
from control_server.routing.repository import LookupRepository, NumbersRepository
from control_server.routing.schemas import (
    ChangeRead,
    FleetRoutingRead,
    NodeRoutingRead,
    OriginList,
    OriginRead,
    PrefixList,
    PrefixRead,
    PrefixSummary,
    RouteList,
    RouteQuery,
    RouteRead,
)
from control_server.routing.service.summing import node_read
from shared.cache import Cache
from shared.database import Database

_TTL_SECONDS = 30
_SHOWN = 100
_ORIGINS = 100
#: Names that one page asks for, and how long it waits for all of them.
_NAMES = 60
_NAMES_SECONDS = 1.0

#: The name of the AS that a text says; None where nobody knows or answers.
NameOf = Callable[[str], Awaitable[str | None]]
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RoutingService:
    """Routing, read in sessions of its own, so that none is held while names are asked for."""

    database: Database
    cache: Cache
    name_of: NameOf

    async def fleet(self) -> FleetRoutingRead:
        """All tables together, at most half a minute old."""

        async def count() -> Any:
            async with self.database.reading() as session:
                return (await NumbersRepository(session).fleet()).model_dump(mode="json")

        found = await self.cache.get_or_load(ROUTING_FLEET.key(), count, ttl_seconds=_TTL_SECONDS)
        return FleetRoutingRead.model_validate(found)

    async def node(self, node_id: str) -> NodeRoutingRead:
        """The tables of one node in numbers, at most half a minute old."""

        async def count() -> Any:
            async with self.database.reading() as session:
                return (await _count(NumbersRepository(session), node_id)).model_dump(mode="json")

        key = ROUTING_SUMMARY.key(node=node_id)
        found = await self.cache.get_or_load(key, count, ttl_seconds=_TTL_SECONDS)
        return NodeRoutingRead.model_validate(found)

    async def table(self, node_id: str, wanted: RouteQuery) -> RouteList:
        """Routes of a node. Raises PrefixNotUnderstood."""
        span = rules.span(wanted.within) if wanted.within else None
        async with self.database.reading() as session:
            rows, cursor = await LookupRepository(session).table(node_id, wanted, span)
            items = [_route(row) for row in rows]
        return RouteList(items=await self._named(items), next=cursor)

    async def recent(self, node_id: str, limit: int = _SHOWN) -> list[ChangeRead]:
        """The latest changes of best paths on a node."""
        async with self.database.reading() as session:
            rows = await LookupRepository(session).recent(node_id, limit)
            return [ChangeRead.model_validate(row) for row in rows]

    async def prefix(self, text: str) -> PrefixRead:
        """Everything that is known of a prefix. Raises PrefixNotUnderstood."""
        network = rules.network_of(text)
        place = rules.place_of(network)
        async with self.database.reading() as session:
            look = LookupRepository(session)
            routes = [_route(row) for row in await look.of_prefix(place.prefix)]
            above = await look.named(rules.covering(network))
            within = await look.within(place.lowest, rules.highest_of(network), place.length, _SHOWN + 1)
            history = [ChangeRead.model_validate(row) for row in await look.history(place.prefix, _SHOWN)]
            told = await look.told()
        here = {route.node_id for route in routes if route.best and not route.filtered}
        numbers = {number for change in history for number in (change.before_origin, change.after_origin)}
        numbers |= {route.origin for route in routes}
        return PrefixRead(
            prefix=place.prefix,
            summary=next((summary for summary in above if summary.prefix == place.prefix), None),
            routes=routes,
            missing=[node for node in told if node not in here],
            covering=[summary for summary in above if summary.prefix != place.prefix],
            covered=_listed(within),
            history=history,
            names=await self.names_of(number for number in numbers if number),
        )

    async def matching(self, text: str) -> PrefixSummary | None:
        """The longest prefix that an address or a prefix lies in. Raises PrefixNotUnderstood."""
        network = rules.network_of(text)
        async with self.database.reading() as session:
            found = await LookupRepository(session).named(rules.covering(network))
        return found[0] if found else None

    async def covering(self, text: str) -> PrefixList:
        """Every prefix that a prefix lies in, the longest first. Raises PrefixNotUnderstood."""
        network = rules.network_of(text)
        async with self.database.reading() as session:
            return PrefixList(items=await LookupRepository(session).named(rules.covering(network)))

    async def within(self, text: str) -> PrefixList:
        """Prefixes that lie in a prefix, itself included. Raises PrefixNotUnderstood."""
        network = rules.network_of(text)
        place = rules.place_of(network)
        async with self.database.reading() as session:
            look = LookupRepository(session)
            found = await look.within(place.lowest, rules.highest_of(network), place.length - 1, _SHOWN + 1)
        return _listed(found)

    async def invalid(self) -> PrefixList:
        """Prefixes with a best route that origin validation calls invalid."""
        async with self.database.reading() as session:
            return _listed(await LookupRepository(session).invalid(_SHOWN + 1))

    async def place_of(self, words: str) -> str:
        """The page of what a person typed: an AS number, a prefix, or the prefix that an address lies in.

        Raises PrefixNotUnderstood.
        """
        number = rules.as_number(words)
        if number is not None:
            return f"/routing/origins/{number}"
        found = await self.matching(words) if "/" not in words else None
        prefix = found.prefix if found else rules.place_of(rules.network_of(words)).prefix
        return f"/routing/prefix?prefix={quote(prefix, safe='')}"

    async def origins(self) -> OriginList:
        """Origins of most prefixes."""
        async with self.database.reading() as session:
            items, total = await NumbersRepository(session).origins(_ORIGINS)
        names = await self.names_of(item.asn for item in items)
        named = [item.model_copy(update={"name": names.get(item.asn)}) for item in items]
        return OriginList(items=named, total=total)

    async def origin(self, asn: int) -> OriginRead:
        """One origin."""
        async with self.database.reading() as session:
            look = LookupRepository(session)
            prefixes = await look.originated(asn, _SHOWN + 1)
            refused = [_route(row) for row in await look.of_origin(asn, _SHOWN)]
        names = await self.names_of([asn])
        return OriginRead(asn=asn, name=names.get(asn), prefixes=_listed(prefixes), filtered=refused)

    async def names_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Names of autonomous systems, as many as are answered in time; who is missing has only a number."""
        asking = {
            number: asyncio.ensure_future(self._name(number)) for number in sorted(set(numbers))[:_NAMES]
        }
        if not asking:
            return {}
        done, late = await asyncio.wait(asking.values(), timeout=_NAMES_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        answered = {number: task.result() for number, task in asking.items() if task in done}
        return {number: name for number, name in answered.items() if name}

    async def _name(self, number: int) -> str | None:
        try:
            return await self.name_of(str(number))
        except Exception as error:  # noqa: BLE001 - a page of routes does not fail for want of a name
            log.warning("routing.name_failed", error=type(error).__name__)
            return None

    async def _named(self, routes: Sequence[RouteRead]) -> list[RouteRead]:
        names = await self.names_of(route.origin for route in routes if route.origin)
        return [route.model_copy(update={"origin_name": names.get(route.origin or 0)}) for route in routes]


async def _count(numbers: NumbersRepository, node_id: str) -> NodeRoutingRead:
    state = await numbers.state(node_id)
    if state is None:
        return node_read(node_id, None, (), ())
    return node_read(
        node_id, state, await numbers.best_groups(node_id), await numbers.protocol_groups(node_id)
    )


def _route(row: Any) -> RouteRead:
    read = RouteRead.model_validate(row)
    return read.model_copy(update={"reason_name": rules.name_of(row.reason)}) if row.filtered else read


def _listed(found: Sequence[PrefixSummary]) -> PrefixList:
    return PrefixList(items=list(found[:_SHOWN]), more=len(found) > _SHOWN)
