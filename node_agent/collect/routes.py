"""Tells the server what BIRD's tables hold: first the whole, then what changed since the server had it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from node_agent.bird.client import conversing
from node_agent.collect.tables import Ground, Table, TableReader
from node_agent.threads import in_thread
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.protocol.fleet import Sight
from shared.protocol.reports import (
    MAX_CHANGES,
    MAX_UNPACKED_BYTES,
    PrefixAcknowledged,
    PrefixChange,
    PrefixReport,
    Route,
    pack_changes,
)

if TYPE_CHECKING:
    from node_agent.connection.reports import Reports

log = structlog.get_logger(__name__)

#: Between two looks.
INTERVAL_SECONDS = 60.0
#: The server's word for a report that it cannot read, now or later.
_UNREADABLE = "prefix_report_refused"
#: Beyond so many prefixes that moved it is cheaper to read all.
_MANY = 200
#: BIRD computes the instant anew at each display; what differs by less is the same.
_SAME = timedelta(milliseconds=500)
_TOLD = 1000
#: Of one report, written out; a server reads twice as much.
_PART_BYTES = MAX_UNPACKED_BYTES * 3 // 8
#: Of a prefix and of a route without its path, with room to spare.
_PREFIX_BYTES, _ROUTE_BYTES = 64, 400

#: What tells whether a prefix moved: its routes without attributes, and since when they are.
_Fingerprint = tuple[tuple[object, ...], tuple[datetime | None, ...]]


class _Word(Enum):
    """What the server says to a report."""

    TAKEN = "taken"
    WHOLE = "whole"
    AGAIN = "again"


@dataclass(slots=True)
class Told:
    """What the server has of the tables."""

    #: False: nobody knows, so the whole is to be told.
    certain: bool = False
    marks: dict[str, _Fingerprint] = field(default_factory=dict)
    #: Of everything but the ages, to see what only a new authorisation changed.
    digests: dict[str, int] = field(default_factory=dict)
    authorisations: str = ""


@dataclass(frozen=True, slots=True)
class _Round:
    """One look, and what it says."""

    ground: Ground
    changes: Sequence[PrefixChange]
    whole: bool


class RouteWatch:
    """Looks, tells, and waits for the server's word, one report at a time."""

    def __init__(self, socket: Path, reports: Reports, now: Clock, *, stream: str, most: int) -> None:
        """`stream` names this life of the agent; tables of more than `most` routes are not told."""
        self._socket = socket
        self._reports = reports
        self._now = now
        self._stream = stream
        self._most = most
        self._sequence = 0
        self._acknowledged = 0
        self._interval = INTERVAL_SECONDS
        self._told = Told()
        self._answer: asyncio.Future[_Word] | None = None

    async def run(self, interval: float = INTERVAL_SECONDS) -> None:
        """Look and tell until cancelled."""
        self._interval = interval
        while True:
            try:
                await self.look()
            except Exception:
                log.exception("routes.look_failed")
                self._told = Told()
            await asyncio.sleep(interval)

    def heard(self, word: PrefixAcknowledged) -> None:
        """The server's word on a report."""
        if word.stream == self._stream and word.sequence == self._sequence:
            self._settle(_Word.WHOLE if word.resynchronise else _Word.TAKEN)

    def refused(self, code: str) -> None:
        """The server has not taken a report: because it cannot read it, or cannot store anything now."""
        self._settle(_Word.WHOLE if code == _UNREADABLE else _Word.AGAIN)

    def _settle(self, word: _Word) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(word)

    async def look(self) -> None:
        """One look, told and acknowledged, or given up."""
        taken_at = self._now()
        try:
            async with conversing(self._socket, restricted=True) as conversation:
                found = await self._read(TableReader(conversation, self._now, self._most))
        except AppError as error:
            unseen = {"sight": Sight.UNAVAILABLE, "reason": error.detail[:_TOLD]}
            await self._tell(self._next(taken_at, **unseen))
            return
        await self._tell_round(found, taken_at)

    # --- looking

    async def _read(self, reader: TableReader) -> _Round:
        ground = await reader.ground()
        if not self._told.certain or ground.digest != self._told.authorisations:
            table = await reader.all(ground)
            whole = not self._told.certain
            changed = table if whole else self._by_digest(table)
            return self._round(ground, changed, set(table), whole=whole)
        marks = await reader.marks(ground)
        moved = [prefix for prefix, routes in marks.items() if self._moved(prefix, routes)]
        if len(moved) > _MANY:
            table = await reader.all(ground)
            changed = {prefix: table.get(prefix, []) for prefix in moved}
        else:
            found = await reader.some(moved, ground)
            changed = {prefix: found.get(prefix, []) for prefix in moved}
        return self._round(ground, changed, set(marks), whole=False)

    def _round(self, ground: Ground, changed: Table, present: set[str], *, whole: bool) -> _Round:
        gone = [] if whole else [prefix for prefix in self._told.marks if prefix not in present]
        changes = [*changed.items(), *((prefix, []) for prefix in gone if prefix not in changed)]
        return _Round(ground, changes, whole)

    def _by_digest(self, table: Table) -> Table:
        known = self._told.digests
        return {prefix: routes for prefix, routes in table.items() if known.get(prefix) != _digest(routes)}

    def _moved(self, prefix: str, routes: Sequence[Route]) -> bool:
        known = self._told.marks.get(prefix)
        if known is None:
            return True
        what, since = _fingerprint(routes)
        return what != known[0] or not all(map(_same_instant, since, known[1]))

    # --- telling

    async def _tell_round(self, found: _Round, taken_at: datetime) -> None:
        parts = _parts(found.changes)
        if found.whole:
            self._told = Told()
        for place, part in enumerate(parts):
            payload = await in_thread(partial(pack_changes, part)) if part else ""
            report = self._next(
                taken_at,
                begins=found.whole and place == 0,
                complete=not found.whole or place == len(parts) - 1,
                daemon_started_at=found.ground.started_at,
                count=len(part),
                payload=payload,
            )
            if not await self._tell(report):
                return
            self._remember(part)
        self._told.certain = True
        self._told.authorisations = found.ground.digest

    def _next(self, taken_at: datetime, **values: object) -> PrefixReport:
        self._sequence += 1
        fixed = {"stream": self._stream, "sequence": self._sequence, "base": self._acknowledged}
        return PrefixReport.model_validate({**fixed, "taken_at": taken_at, **values})

    async def _tell(self, report: PrefixReport) -> bool:
        """Send a report until the server has a word for it; False where it wants the whole.

        A link that is lost meanwhile brings the report again by itself, and a server that is away for long
        finds it when it comes back: waiting costs nothing.
        """
        while True:
            self._answer = asyncio.get_running_loop().create_future()
            self._reports.put(report)
            word = await self._answer
            if word is not _Word.AGAIN:
                break
            await asyncio.sleep(self._interval)
        self._reports.forget(report)
        if word is _Word.WHOLE:
            self._told = Told()
            return False
        self._acknowledged = report.sequence
        return True

    def _remember(self, part: Sequence[PrefixChange]) -> None:
        for prefix, routes in part:
            if routes:
                self._told.marks[prefix] = _fingerprint(routes)
                self._told.digests[prefix] = _digest(routes)
            else:
                self._told.marks.pop(prefix, None)
                self._told.digests.pop(prefix, None)


def _parts(changes: Sequence[PrefixChange]) -> list[list[PrefixChange]]:
    """The changes in reports that are small enough; at least one, which may say nothing."""
    parts: list[list[PrefixChange]] = [[]]
    size = 0
    for change in changes:
        more = _PREFIX_BYTES + sum(_ROUTE_BYTES + len(route.path) for route in change[1])
        if parts[-1] and (len(parts[-1]) == MAX_CHANGES or size + more > _PART_BYTES):
            parts.append([])
            size = 0
        parts[-1].append(change)
        size += more
    return parts


def _fingerprint(routes: Sequence[Route]) -> _Fingerprint:
    ordered = sorted(routes, key=_order)
    what = tuple((route.protocol, route.filtered, route.best, route.origin) for route in ordered)
    return what, tuple(route.since for route in ordered)


def _order(route: Route) -> tuple[str, bool, bool, int, float]:
    since = route.since.timestamp() if route.since is not None else 0.0
    return route.protocol, route.filtered, route.best, route.origin or 0, since


def _digest(routes: Sequence[Route]) -> int:
    return hash(tuple(route._replace(since=None) for route in routes))


def _same_instant(one: datetime | None, other: datetime | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _SAME
