"""What BIRD's tables hold, read in pieces: cheaply each time, in full where something moved."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from node_agent.apply.daemon import local_time
from node_agent.bird.client import BirdConversation
from node_agent.bird.errors import BirdReplyTooLarge
from node_agent.bird.framing import Line
from node_agent.bird.routes import RoaSeen, RouteReader, RouteSeen, read_roa
from node_agent.bird.times import take_since
from node_agent.collect.errors import TableTooLarge
from node_agent.collect.origins import Authorisations
from shared.kernel.clock import Clock
from shared.protocol.reports import Route, Validity

#: Of one answer: about a million routes with their attributes.
_ANSWER_BYTES = 536_870_912
#: Between two pieces of an answer.
_SECONDS = 20.0
_TABLES = ("master4", "master6")
_ROA_TABLES = ("rl_roa4", "rl_roa6")
_REBOOT = re.compile(r"^Last reboot on (.+)$")
_NUMBER = re.compile(r"^\d+$")
#: Second part of the large community that an import filter leaves on what it refuses.
_REASON = 1101
_INVALID = frozenset({13, 15})
_NOT_FOUND = 14
_LONGEST_NAME = 128
_LONGEST_PATH = 2048

Table = dict[str, list[Route]]


@dataclass(frozen=True, slots=True)
class Ground:
    """What routes are read against."""

    started_at: datetime | None
    #: The AS whose communities say why a route was refused; None in a configuration that is not ours.
    asn: int | None
    authorisations: Authorisations
    #: Of all authorisations, so that a change among them is seen.
    digest: str


@dataclass(slots=True)
class _Gathering:
    """Routes of an answer as they come; refuses more than may be read."""

    left: int
    ground: Ground
    table: Table = field(default_factory=dict)

    def take(self, seen: RouteSeen | None, *, filtered: bool) -> None:
        """Take a route. Raises TableTooLarge."""
        if seen is None:
            return
        self.left -= 1
        if self.left < 0:
            raise TableTooLarge
        self.table.setdefault(seen.prefix, []).append(_route(seen, self.ground, filtered=filtered))

    def ordered(self) -> Table:
        """Each prefix with its routes in an order that does not depend on BIRD's."""
        return {prefix: _numbered(routes) for prefix, routes in self.table.items()}


class TableReader:
    """One look at BIRD's tables over one conversation; every method raises as `BirdConversation.stream`."""

    def __init__(self, conversation: BirdConversation, now: Clock, most: int) -> None:
        """A table that holds more than `most` routes is not read at all."""
        self._conversation = conversation
        self._now = local_time(now)
        self._most = most

    async def ground(self) -> Ground:
        """When BIRD began, whom it is, and what its caches say; nothing where it has no such table."""
        found: list[RoaSeen] = []

        def take(lines: Sequence[Line]) -> None:
            found.extend(entry for line in lines if (entry := read_roa(line)) is not None)

        for table in _ROA_TABLES:
            await self._stream(f"show route table {table}", take)
        texts = sorted({f"{entry.prefix} {entry.longest} {entry.asn}" for entry in found})
        return Ground(
            started_at=await self._started_at(),
            asn=await self._asn(),
            authorisations=Authorisations(found),
            digest=hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        )

    async def marks(self, ground: Ground) -> Table:
        """Every route without its attributes: enough to see what moved. Raises TableTooLarge."""
        return await self._gather("show route table {}{}", _TABLES, ground)

    async def all(self, ground: Ground) -> Table:
        """Every route. Raises TableTooLarge."""
        return await self._gather("show route table {}{} all", _TABLES, ground)

    async def some(self, prefixes: Iterable[str], ground: Ground) -> Table:
        """The routes of these prefixes. Raises TableTooLarge."""
        found: Table = {}
        for prefix in prefixes:
            command = f"show route {prefix} table {{}}{{}} all"
            found |= await self._gather(command, [_TABLES[":" in prefix]], ground)
        return found

    async def _started_at(self) -> datetime | None:
        reply = await self._conversation.ask("show status")
        for line in reply.lines:
            if (found := _REBOOT.match(line.text.strip())) is not None:
                since, _ = take_since(found[1].split(), self._now)
                return since.instant
        return None

    async def _asn(self) -> int | None:
        reply = await self._conversation.ask("eval RL_ASN")
        text = reply.lines[-1].text.strip()
        return int(text) if _NUMBER.match(text) and not reply.failed else None

    async def _gather(self, command: str, tables: Iterable[str], ground: Ground) -> Table:
        gathering = _Gathering(self._most, ground)
        for table in tables:
            for filtered in (False, True):
                words = command.format(table, " filtered" if filtered else "")
                await self._read(words, gathering, filtered=filtered)
        return gathering.ordered()

    async def _read(self, command: str, gathering: _Gathering, *, filtered: bool) -> None:
        reader = RouteReader(self._now)

        def take(lines: Sequence[Line]) -> None:
            for line in lines:
                gathering.take(reader.feed(line), filtered=filtered)

        await self._stream(command, take)
        gathering.take(reader.end(), filtered=filtered)

    async def _stream(self, command: str, take: Callable[[Sequence[Line]], None]) -> None:
        try:
            await self._conversation.stream(command, take, limit=_ANSWER_BYTES, seconds=_SECONDS)
        except BirdReplyTooLarge:
            raise TableTooLarge from None


def _route(seen: RouteSeen, ground: Ground, *, filtered: bool) -> Route:
    reason = seen.large(ground.asn, _REASON) if filtered and ground.asn is not None else None
    return Route(
        protocol=seen.protocol[:_LONGEST_NAME],
        ordinal=0,
        # BIRD marks the first of refused routes as best as well.
        best=seen.best and not filtered,
        filtered=filtered,
        reason=reason,
        origin=seen.origin,
        path=seen.path[:_LONGEST_PATH],
        hops=seen.hops,
        validity=_validity(seen, ground.authorisations, reason),
        next_hop=seen.next_hop[:_LONGEST_NAME],
        local_pref=seen.local_pref,
        since=seen.since.instant,
    )


def _validity(seen: RouteSeen, known: Authorisations, reason: int | None) -> Validity:
    # What the filter went by is what counts for a route that it refused.
    if reason in _INVALID:
        return Validity.INVALID
    if reason == _NOT_FOUND:
        return Validity.NOT_FOUND
    return known.validity(seen.prefix, seen.origin)


def _numbered(routes: Sequence[Route]) -> list[Route]:
    if len(routes) == 1:
        return list(routes)
    counts: dict[str, int] = {}
    numbered = []
    for route in sorted(routes, key=_order):
        number = counts.get(route.protocol, 0)
        counts[route.protocol] = number + 1
        numbered.append(route._replace(ordinal=number) if number else route)
    return numbered


def _order(route: Route) -> tuple[str, bool, str, str, int]:
    return route.protocol, route.filtered, route.path, route.next_hop, route.origin or 0
