"""Scores for people: what is restless now, why, and what will become of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from control_server.flaps.errors import FlapUnknown
from control_server.flaps.repository import FlapHistory
from control_server.flaps.rules import curves
from control_server.flaps.rules.prefixes import BUCKET_SECONDS
from control_server.flaps.rules.reads import reads_of
from control_server.flaps.rules.score import FORGOTTEN, Score
from control_server.flaps.schemas import (
    ChartLine,
    FlapChart,
    FlapExplanation,
    FlapOverview,
    FlapQuery,
    FlapRead,
    Level,
    RatePoint,
    Subject,
    SubjectKind,
    TransitionRead,
)
from control_server.flaps.service.states import FlapStates, Remembered
from shared.database import Database
from shared.kernel.clock import Clock

#: A node's own score stands beside those of its sessions.
_KINDS_OF: dict[SubjectKind | None, tuple[SubjectKind, ...]] = {
    None: (SubjectKind.SESSION, SubjectKind.PREFIX),
    SubjectKind.SESSION: (SubjectKind.SESSION,),
    SubjectKind.NODE: (SubjectKind.SESSION,),
    SubjectKind.PREFIX: (SubjectKind.PREFIX,),
}
_DAY = timedelta(hours=24)
_PAST = timedelta(hours=2)
_STEP = timedelta(minutes=3)
#: More lines than that nobody tells apart.
_LINES = 4
#: Events of one subject that explain its score; more would have fallen to nothing since.
_HISTORY = 200
#: Prefixes that a page can show; the rest is a number.
_SHOWN_PREFIXES = 500


@dataclass(frozen=True, slots=True)
class FlapService:
    """Reads scores in sessions of its own."""

    database: Database
    states: FlapStates
    now: Clock

    async def overview(self, kind: SubjectKind | None = None) -> FlapOverview:
        """Everything that has a score, the highest first."""
        now = self.now()
        remembered = await self._remembered(None, kind, now)
        found = [read for read in _reads(remembered, now) if kind in {None, read.kind}]
        items = [read for read in found if read.score >= FORGOTTEN]
        prefixes = [read for read in items if read.kind is SubjectKind.PREFIX]
        left_out = set(map(id, prefixes[_SHOWN_PREFIXES:]))
        async with self.database.reading() as session:
            history = FlapHistory(session)
            charges = await history.charges_since(now - _DAY)
            today = await history.count_since(now - _DAY)
        return FlapOverview(
            generated_at=now,
            items=[read for read in items if id(read) not in left_out],
            sessions=sum(read.kind is SubjectKind.SESSION for read in items),
            prefixes=len(prefixes),
            flapping=sum(read.level is Level.FLAPPING for read in items),
            noisy=sum(read.level is Level.NOISY for read in items),
            transitions_today=today,
            drops_by_subject={"/".join(subject): number for subject, number in charges.items()},
            source="kv" if remembered.from_tier else "sql",
        )

    async def chart(self, reads: Sequence[FlapRead]) -> FlapChart:
        """The highest of these over time. Of prefixes no single change is kept, so they are not drawn."""
        now = self.now()
        drawn = [read for read in reads if read.kind is not SubjectKind.PREFIX and read.score][:_LINES]
        subjects = [(read.node_id, str(read.kind), read.subject) for read in drawn]
        async with self.database.reading() as session:
            rows = await FlapHistory(session).charges_of(subjects, now - 2 * _PAST)
        at = curves.instants(now, _PAST, _STEP)
        lines = []
        for read, subject in zip(drawn, subjects, strict=True):
            told = [row for row in rows if (row.node_id, row.kind, row.subject) == subject]
            charges = [TransitionRead.model_validate(row) for row in told]
            label = f"{read.node_id} {read.subject}".strip()
            values = curves.values_at(charges, read.score, at, now)
            lines.append(ChartLine(label=label, values=values))
        return FlapChart(at=at, now=now, lines=lines)

    async def node(self, node_id: str) -> list[FlapRead]:
        """Every session of a node, whatever its score, and its restless prefixes."""
        now = self.now()
        return _reads(await self._remembered([node_id], None, now), now)

    async def sighted(self, node_ids: Collection[str]) -> tuple[dict[Subject, FlapRead], bool]:
        """The same of several, by subject; and whether that is all: no tier is away that may know more."""
        now = self.now()
        remembered = await self._remembered(node_ids, None, now)
        found = {(read.node_id, read.kind, read.subject): read for read in _reads(remembered, now)}
        return found, remembered.whole

    async def restless(self, kind: SubjectKind | None = None) -> list[FlapRead]:
        """All that has a score, the highest first, however much that is."""
        now = self.now()
        found = _reads(await self._remembered(None, kind, now), now)
        return [read for read in found if read.score >= FORGOTTEN and kind in {None, read.kind}]

    async def get(self, subject: Subject) -> FlapRead:
        """One score as it is now. Raises FlapUnknown."""
        node_id, kind, name = subject
        now = self.now()
        found = _reads(await self._remembered([node_id], kind, now), now)
        read = next((read for read in found if (read.kind, read.subject) == (kind, name)), None)
        if read is None:
            raise FlapUnknown(f"Nothing is known of {name or node_id} on {node_id}.")
        return read

    async def session(self, node_id: str, name: str) -> FlapExplanation:
        """Why a session's score is what it is. Raises FlapUnknown."""
        return await self._explained(node_id, SubjectKind.SESSION, name)

    async def prefix(self, node_id: str, prefix: str) -> FlapExplanation:
        """Why a prefix's score is what it is. Raises FlapUnknown."""
        return await self._explained(node_id, SubjectKind.PREFIX, prefix)

    async def whole_node(self, node_id: str) -> FlapExplanation:
        """Why the score of a node itself is what it is. Raises FlapUnknown."""
        return await self._explained(node_id, SubjectKind.NODE, "")

    async def chosen(self, overview: FlapOverview, asked: FlapQuery) -> FlapExplanation | None:
        """What is asked for, else the highest; None where nothing has a score. Raises FlapUnknown."""
        if asked.node is not None and asked.prefix:
            return await self.prefix(asked.node, asked.prefix)
        if asked.node is not None and asked.session:
            return await self.session(asked.node, asked.session)
        if asked.node is not None:
            return await self.whole_node(asked.node)
        if not overview.items:
            return None
        # A session explains the prefixes that fell with it, and not the other way round.
        sessions = [read for read in overview.items if read.kind is not SubjectKind.PREFIX]
        top = (sessions or overview.items)[0]
        return await self._explained(top.node_id, top.kind, top.subject)

    async def transitions(
        self, node_id: str | None = None, subject: str | None = None, limit: int = 100
    ) -> list[TransitionRead]:
        """What happened, the latest first; `subject` names a session."""
        named = None if subject is None else (SubjectKind.SESSION, subject)
        async with self.database.reading() as session:
            rows = await FlapHistory(session).list_transitions(node_id=node_id, subject=named, limit=limit)
        return [TransitionRead.model_validate(row) for row in rows]

    async def rates(self, node_id: str, since: datetime) -> list[RatePoint]:
        """Prefix updates in buckets of five minutes, oldest first; one that is missing was not measured."""
        begin = since - timedelta(seconds=since.timestamp() % BUCKET_SECONDS)
        async with self.database.reading() as session:
            rows = await FlapHistory(session).rates(node_id, begin)
        return [RatePoint.model_validate(row, from_attributes=True) for row in rows]

    async def _remembered(
        self, node_ids: Collection[str] | None, kind: SubjectKind | None, now: datetime
    ) -> Remembered:
        return await self.states.read(node_ids, _KINDS_OF[kind], now)

    async def _explained(self, node_id: str, kind: SubjectKind, name: str) -> FlapExplanation:
        now = self.now()
        found = _reads(await self._remembered([node_id], kind, now), now)
        read = next((read for read in found if (read.kind, read.subject) == (kind, name)), None)
        async with self.database.reading() as session:
            history = FlapHistory(session)
            rows = await history.list_transitions(node_id=node_id, subject=(kind, name), limit=_HISTORY)
            told = curves.current_run([TransitionRead.model_validate(row) for row in reversed(rows)])
            charged = curves.charged(told)
            others = 0
            if charged and kind is SubjectKind.SESSION:
                others = await history.count_others(node_id, name, charged[0].at, charged[-1].at)
        if read is None and not rows:
            raise FlapUnknown(f"Nothing is known of {name or node_id} on {node_id}.")
        read = read or FlapRead(node_id=node_id, kind=kind, subject=name, level=Level.STABLE, score=0)
        return FlapExplanation(
            now=read,
            drops=len(charged),
            span_seconds=(charged[-1].at - charged[0].at).total_seconds() if charged else 0,
            reached_at=curves.reached_at(told),
            history=told,
            past=curves.past_of(told, now - _PAST, now),
            future=curves.future_of(Score(read.score, now.timestamp()), now, _PAST),
            others_moved=others,
        )


def _reads(remembered: Remembered, now: datetime) -> list[FlapRead]:
    found = reads_of(remembered.sessions, remembered.prefixes, now)
    for read in found if remembered.mutes else ():
        mute = remembered.mutes.get((read.node_id, read.kind, read.subject))
        # What has cleared is not muted any more, whether or not that has been written down yet.
        if mute is not None and read.level is not Level.STABLE:
            read.muted_by, read.muted_at = mute.muted_by, mute.muted_at
    return found
