"""Keeps the tables of nodes as their agents report them: each report is one transaction, taken once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from control_server.agents.service import AgentConnection
from control_server.keys import ROUTING_FLEET, ROUTING_SUMMARY
from control_server.routing import rules
from control_server.routing.errors import PrefixNotUnderstood, ReportNotUnderstood
from control_server.routing.repository import TableRepository
from control_server.routing.repository.tables import known_of
from control_server.routing.schemas import BestChange, ChangeCause, Place, Verdict
from shared.cache import Cache, TierUnavailable
from shared.database import Database, after_commit
from shared.kernel.clock import Clock
from shared.protocol.fleet import Sight
from shared.protocol.reports import (
    PrefixAcknowledged,
    PrefixReport,
    Route,
    UnreadableReport,
    unpack_changes,
)

if TYPE_CHECKING:
    from control_server.routing.models import RoutingState

log = structlog.get_logger(__name__)

#: Longer than any count that began before a report was stored can take.
_FENCE_SECONDS = 10
#: Rows that are taken out at once when a telling of the whole ends.
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class HeardBestPaths:
    """What one report says of best paths: of a prefix one change at most, however many peers told."""

    node_id: str
    #: Grows with every report that was taken, over all lives of the agent.
    round: int
    taken_at: datetime
    cause: ChangeCause
    changes: tuple[BestChange, ...]
    #: Prefixes of which any route changed.
    updates: int


class BestPathRecording(Protocol):
    """Writes what follows from one report; begun before its transaction."""

    async def write(self, session: Any, heard: HeardBestPaths) -> None:
        """Called inside the transaction of the report, once."""


class BestPathWatch(Protocol):
    """Whoever follows best paths."""

    async def begin(self, node_id: str, fencing_token: int | None) -> BestPathRecording:
        """A report comes; what it takes from outside the database is read now."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A report with its prefixes placed."""

    report: PrefixReport
    routes: Mapping[Place, Sequence[Route]]


@dataclass(frozen=True, slots=True)
class TableKeeper:
    """Takes reports."""

    database: Database
    cache: Cache
    now: Clock
    watch: BestPathWatch | None = None

    async def hear(self, connection: AgentConnection, report: PrefixReport) -> None:
        """A report that came over a socket; it is answered there. Raises ReportNotUnderstood."""
        connection.send(await self.take(connection.node_id, report, connection.fencing_token))

    async def take(
        self, node_id: str, report: PrefixReport, fencing_token: int | None = None
    ) -> PrefixAcknowledged:
        """Bring the tables up to date, and say whether that went. Raises ReportNotUnderstood."""
        read = _Read(report, _placed(report))
        recording = await self.watch.begin(node_id, fencing_token) if self.watch else None
        async with self.database.transaction() as session:
            tables = TableRepository(session)
            state = await tables.hold(node_id)
            verdict = rules.verdict(known_of(state), report)
            if verdict is Verdict.TAKE:
                heard = await self._take(tables, state, read)
                if recording is not None and heard is not None:
                    await recording.write(session, heard)
                if heard is None or heard.updates or report.complete:
                    after_commit(session, lambda: self._forget_numbers(node_id))
        log.info("agent.reported", node=node_id, report=report.type, verdict=verdict, prefixes=report.count)
        return PrefixAcknowledged(
            stream=report.stream,
            sequence=report.sequence,
            resynchronise=verdict is Verdict.OUT_OF_STEP,
        )

    async def _take(self, tables: TableRepository, state: RoutingState, read: _Read) -> HeardBestPaths | None:
        """Change the tables and the state; None for a look that saw nothing, which changes no route."""
        report, now = read.report, self.now()
        cause = rules.cause(known_of(state), report)
        state.stream, state.sequence, state.rounds = report.stream, report.sequence, state.rounds + 1
        state.taken_at, state.received_at = rules.instant(report.taken_at, now), now
        state.sight, state.reason = report.sight.value, report.reason
        if report.sight is not Sight.OBSERVED:
            return None
        if report.begins:
            state.mark, state.synchronising = state.rounds, True
        changes, updates = await self._change(tables, state, read.routes)
        if state.synchronising and report.complete:
            gone, more = await self._sweep(tables, state)
            changes, updates = [*changes, *gone], updates + more
        await self._note(tables, state, changes, cause)
        if report.complete:
            state.synchronising, state.complete_at = False, now
            state.daemon_started_at = report.daemon_started_at
        return HeardBestPaths(state.node_id, state.rounds, state.taken_at, cause, tuple(changes), updates)

    async def _change(
        self, tables: TableRepository, state: RoutingState, told: Mapping[Place, Sequence[Route]]
    ) -> tuple[list[BestChange], int]:
        before = await tables.routes(state.node_id, [place.prefix for place in told])
        changed = {
            place: routes for place, routes in told.items() if _differ(before.get(place.prefix, ()), routes)
        }
        await tables.remove(state.node_id, [place.prefix for place in changed if place.prefix in before])
        await tables.add(state.node_id, changed, state.mark)
        if state.synchronising:
            same = [place.prefix for place in told if place not in changed]
            await tables.mark(state.node_id, same, state.mark)
        found = (
            rules.best_change(place.prefix, before.get(place.prefix, ()), routes)
            for place, routes in changed.items()
        )
        return [change for change in found if change is not None], len(changed)

    async def _sweep(self, tables: TableRepository, state: RoutingState) -> tuple[list[BestChange], int]:
        """Take out what the whole did not name."""
        changes: list[BestChange] = []
        removed = 0
        while gone := await tables.left_behind(state.node_id, state.mark, _AT_ONCE):
            # The limit may have cut the routes of the last prefix in two.
            whole = await tables.routes(state.node_id, list(gone))
            await tables.remove(state.node_id, list(gone))
            found = (rules.best_change(prefix, routes, ()) for prefix, routes in whole.items())
            changes += (change for change in found if change is not None)
            removed += len(gone)
        return changes, removed

    async def _note(
        self,
        tables: TableRepository,
        state: RoutingState,
        changes: Sequence[BestChange],
        cause: ChangeCause,
    ) -> None:
        # The first sight of a table is no history of it.
        if cause is not ChangeCause.FIRST_SIGHT:
            await tables.note(state, changes, cause, state.taken_at or self.now())

    async def _forget_numbers(self, node_id: str) -> None:
        for key in (ROUTING_SUMMARY.key(node=node_id), ROUTING_FLEET.key()):
            with suppress(TierUnavailable):
                await self.cache.invalidate(key, ttl_seconds=_FENCE_SECONDS)


def _placed(report: PrefixReport) -> dict[Place, Sequence[Route]]:
    placed: dict[Place, Sequence[Route]] = {}
    try:
        for prefix, routes in unpack_changes(report):
            placed[rules.place_of(rules.network_of(prefix))] = _distinct(routes)
    except (UnreadableReport, PrefixNotUnderstood) as error:
        raise ReportNotUnderstood(f"The report cannot be read: {error}") from error
    return placed


def _distinct(routes: Sequence[Route]) -> list[Route]:
    return list({(route.protocol, route.ordinal): route for route in routes}.values())


def _differ(before: Sequence[Route], after: Sequence[Route]) -> bool:
    return len(before) != len(after) or set(before) != set(after)
