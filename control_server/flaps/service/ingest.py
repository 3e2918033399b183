"""Charges sessions and prefixes as reports come in.

With the tier, a report is taken in right after its transaction: the blob is read, what happened goes to SQL,
and the new blob takes the place of the one that was read, or all of it is done again. Nothing is asked of the
tier inside a transaction. Without the tier everything happens inside the report's own transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Generic

import structlog

from control_server.flaps.repository import FlapHistory, FlapMutes, FlapTables, Holding
from control_server.flaps.rules.looks import Happening
from control_server.flaps.rules.prefixes import SeenChange, SeenReport, active_until
from control_server.flaps.rules.snapshots import seen_in
from control_server.flaps.schemas import Heard, Level, PrefixesHeard, SubjectKind
from control_server.flaps.service.books import BaseT, Book, Outcome, PrefixBook, SeenT, SessionBook, Wanted
from control_server.flaps.service.subjects import INCIDENT_OF
from control_server.flaps.store import HotState
from control_server.incidents.schemas import Finding, Severity
from control_server.incidents.service import IncidentLedger
from shared.cache import OutcomeUnknown, PayloadError, TierUnavailable
from shared.database import Database, after_commit
from shared.protocol.fleet import RuntimeSnapshot

log = structlog.get_logger(__name__)

#: Somebody else was quicker so often that SQL is asked to keep it.
_TRIES = 16


@dataclass(frozen=True, slots=True)
class Told(Generic[SeenT]):
    """One report of one node, numbered."""

    node_id: str
    fence: int | None
    number: int
    seen: SeenT
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Bookkeeping(Generic[BaseT, SeenT]):
    """Takes reports of one kind in, wherever the state stands."""

    database: Database
    hot: HotState
    book: Book[BaseT, SeenT]

    async def take(self, tables: FlapTables, held: Holding, told: Told[SeenT]) -> None:
        """Take a report in with its transaction, or right after it."""
        if self.hot.configured:
            after_commit(tables.session, partial(self._settle, told))
        else:
            await self._in_tables(tables, held, told)

    async def _settle(self, told: Told[SeenT]) -> None:
        for _ in range(_TRIES):
            try:
                if await self._exchanged(told):
                    return
            except OutcomeUnknown:
                continue  # it stands there or it does not: the next look tells
            except TierUnavailable:
                break
        async with self.database.transaction() as session:
            tables = FlapTables(session)
            held = await tables.hold(told.node_id, self.book.kind, told.fence)
            if held is not None:
                await self._in_tables(tables, held, told)

    async def _exchanged(self, told: Told[SeenT]) -> bool:
        """Whether the report is settled; False when somebody else was quicker. Raises TierUnavailable."""
        kind = self.book.kind
        blob = await self.hot.find(kind, told.node_id)
        tier = self.book.decode(blob) if blob is not None else None
        if tier is not None and told.fence is not None and told.fence < tier.fence:
            log.info("flaps.replaced_connection", node=told.node_id, kind=kind)
            return True
        async with self.database.transaction() as session:
            tables = FlapTables(session)
            held = await tables.hold(told.node_id, kind, told.fence)
            if held is None:
                return True
            base = self.book.join(tier, await self.book.read(tables, held), held)
            outcome = self.book.step(base, told.seen)
            if not outcome.taken:
                return True
            await self._note(tables, held, told, outcome)
        after = replace(outcome.base, fence=held.fence)
        try:
            exchanged = await self.hot.exchange(kind, told.node_id, blob, self.book.encode(after))
        except OutcomeUnknown:
            raise
        except (TierUnavailable, PayloadError):
            await self._keep(told, after)
            return True
        if exchanged and held.in_sql:
            async with self.database.transaction() as session:
                await FlapTables(session).let_go(told.node_id, kind, until=told.number)
        return exchanged

    async def _keep(self, told: Told[SeenT], base: BaseT) -> None:
        """The tier told all that it knew, and does not take this: SQL keeps it."""
        async with self.database.transaction() as session:
            tables = FlapTables(session)
            held = await tables.hold(told.node_id, self.book.kind, told.fence)
            if held is not None:
                await self.book.write(tables, held, Wanted(base))

    async def _in_tables(self, tables: FlapTables, held: Holding, told: Told[SeenT]) -> None:
        before = await self.book.read(tables, held)
        outcome = self.book.step(before, told.seen)
        if not outcome.taken:
            return
        await self._note(tables, held, told, outcome)
        began = held.kept.from_nothing_at if held.in_sql else told.seen.taken_at
        await self.book.write(tables, held, Wanted(outcome.base, before, began))

    async def _note(
        self, tables: FlapTables, held: Holding, told: Told[SeenT], outcome: Outcome[BaseT]
    ) -> None:
        history = FlapHistory(tables.session)
        await history.add(told.node_id, outcome.happenings)
        if outcome.bucket is not None and await tables.claim_rate(held, told.number):
            await history.count_rate(told.node_id, outcome.bucket)
        await tables.note_active(held, active_until(self.book.tallies(outcome.base)))
        for happening in outcome.happenings:
            if happening.level is Level.FLAPPING and happening.level_before is not Level.FLAPPING:
                await self._open(tables, told, happening)

    @staticmethod
    async def _open(tables: FlapTables, told: Told[SeenT], happening: Happening) -> None:
        incidents, finding = IncidentLedger.within(tables.session), _finding(told.node_id, happening)
        if await incidents.open(finding, told.received_at) is None:
            return
        muted = await FlapMutes(tables.session).find((told.node_id, happening.kind, happening.subject))
        if muted is not None:
            await incidents.mute((finding.kind, finding.node_id, finding.subject), muted.muted_at)


def _finding(node_id: str, happening: Happening) -> Finding:
    clears_at = happening.clears_at
    return Finding(
        kind=INCIDENT_OF[happening.kind],
        node_id=node_id,
        subject=happening.subject,
        since=datetime.fromtimestamp(happening.at, UTC),
        severity=Severity.CRITICAL if happening.kind is SubjectKind.NODE else Severity.WARNING,
        details={
            "score": round(happening.after, 1),
            "reason": happening.reason,
            "clears_at": None if clears_at is None else datetime.fromtimestamp(clears_at, UTC).isoformat(),
        },
    )


@dataclass(frozen=True, slots=True)
class SessionFlaps:
    """Scores of sessions, charged by snapshots."""

    database: Database
    hot: HotState
    _book: SessionBook = field(default_factory=SessionBook)

    async def hear(self, tables: FlapTables, node_id: str, snapshot: RuntimeSnapshot, heard: Heard) -> None:
        """One snapshot, inside its transaction. What comes twice is charged once."""
        maintenance = await tables.in_maintenance(node_id)
        seen = seen_in(snapshot, heard.at, maintenance=maintenance)
        if seen is None:
            return
        held = await tables.hold(node_id, SubjectKind.SESSION, heard.fencing_token)
        if held is None:
            return
        number = await tables.count_report(held)
        told = Told(node_id, heard.fencing_token, number, seen, heard.at)
        await Bookkeeping(self.database, self.hot, self._book).take(tables, held, told)


@dataclass(frozen=True, slots=True)
class PrefixFlaps:
    """Scores of prefixes, charged by changes of our best path."""

    database: Database
    hot: HotState
    _book: PrefixBook = field(default_factory=PrefixBook)

    async def hear(self, tables: FlapTables, node_id: str, report: PrefixesHeard, heard: Heard) -> None:
        """One prefix report, inside its transaction, which is told once and no more."""
        held = await tables.hold(node_id, SubjectKind.PREFIX, heard.fencing_token)
        if held is None:
            return
        number = await tables.count_report(held)
        received = heard.at.timestamp()
        seen = SeenReport(
            sequence=number,
            taken_at=min(report.taken_at.timestamp(), received),
            changes=tuple(
                SeenChange(change.prefix, change.kind, min(change.at.timestamp(), received), change.path)
                for change in report.changes
            ),
            updates=report.updates,
            pardoned=report.pardoned or await tables.in_maintenance(node_id),
            rated=report.rated,
        )
        told = Told(node_id, heard.fencing_token, number, seen, heard.at)
        await Bookkeeping(self.database, self.hot, self._book).take(tables, held, told)
