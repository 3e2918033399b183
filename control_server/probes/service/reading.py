"""Reading probes: the permalink, and the stream that replays and then follows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from control_server.probes import rules
from control_server.probes.errors import ProbeNotFound
from control_server.probes.models import Probe, ProbeNode
from control_server.probes.repository import ProbeRepository
from control_server.probes.schemas import (
    ActorRead,
    Event,
    Line,
    LineRead,
    Position,
    ProbeRead,
    ProbeSummary,
    ShareRead,
    Snapshot,
)
from control_server.probes.store import Changed, Following, Relay, Resync
from shared.cache import TierUnavailable
from shared.database import Database
from shared.protocol.probes import ProbeOptions, ProbeReason, ProbeState, Tool

#: Greater than any number: asks the relay for its counts alone.
_NO_LINES = 2**62


def stream_path(probe_id: UUID) -> str:
    """Where the probe can be followed."""
    return f"/api/v1/probes/{probe_id}/stream"


def summary_of(
    probe: Probe, shares: Sequence[ProbeNode], accepted: Mapping[str, int] | None = None
) -> ProbeSummary:
    """The probe as readers see it; `accepted` are counts newer than the database's."""
    nodes = [_read_share(share, (accepted or {}).get(share.node_id, 0)) for share in shares]
    state = ProbeState(probe.state)
    counts = sum(node.accepted_lines for node in nodes), sum(node.archived_lines for node in nodes)
    lacking = rules.missing(state, [node.reason for node in nodes], counts)
    return ProbeSummary(
        id=probe.id,
        state=state,
        reason=ProbeReason(probe.reason) if probe.reason else None,
        tool=Tool(probe.tool),
        target=probe.target,
        options=ProbeOptions.model_validate(probe.options),
        created_by=ActorRead(kind=probe.actor_kind, id=probe.actor_id, name=probe.actor_name),
        created_at=probe.created_at,
        started_at=probe.started_at,
        cancelled_at=probe.cancelled_at,
        finished_at=probe.finished_at,
        epoch=probe.epoch,
        stream=stream_path(probe.id),
        nodes=nodes,
        complete=state.final and lacking is None,
        missing=lacking,
    )


def _read_share(share: ProbeNode, accepted: int) -> ShareRead:
    return ShareRead(
        node=share.node_id,
        state=ProbeState(share.state),
        reason=ProbeReason(share.reason) if share.reason else None,
        detail=share.detail,
        exit_code=share.exit_code,
        command=share.command,
        address=share.address,
        summary=share.summary,
        truncated=share.truncated,
        accepted_lines=max(accepted, share.accepted_lines),
        archived_lines=share.archived_lines,
        started_at=share.started_at,
        finished_at=share.finished_at,
    )


@dataclass(frozen=True, slots=True)
class ProbeReader:
    """Probes as anybody may read them; opens sessions of its own, briefly."""

    database: Database
    relay: Relay

    async def summary(self, probe_id: UUID) -> ProbeSummary:
        """The probe without its lines. Raises ProbeNotFound."""
        held = await self._held(probe_id, after=_NO_LINES)
        async with self.database.reading() as session:
            probes = ProbeRepository(session)
            probe = await probes.find(probe_id)
            if probe is None:
                raise ProbeNotFound(f"There is no probe {probe_id}.")
            shares = await probes.list_shares([probe_id])
        return summary_of(probe, shares, held.accepted if held else None)

    async def read(self, probe_id: UUID) -> ProbeRead:
        """The probe with its lines. Raises ProbeNotFound."""
        held = await self._held(probe_id)
        summary = await self.summary(probe_id)
        lines = held.lines if held else await self._archived(probe_id, 0)
        read = [LineRead.model_validate(line) for line in lines]
        return ProbeRead(**dict(summary), lines=read)

    async def has_seen_everything(self, probe_id: UUID, position: Position | None) -> bool:
        """Whether the reader has had the last event already, so that it need not come back (S8)."""
        async with self.database.reading() as session:
            probe = await ProbeRepository(session).find(probe_id)
        if probe is None:
            raise ProbeNotFound(f"There is no probe {probe_id}.")
        return ProbeState(probe.state).final and position == Position(probe.epoch, probe.archived_seq + 1)

    async def follow(
        self, probe_id: UUID, position: Position | None, live: Following | None
    ) -> AsyncGenerator[Event, None]:
        """Everything after the position, then what comes, then the end. `live` was subscribed before (S3)."""
        summary = await self.summary(probe_id)
        yield Event("state", summary.model_dump(mode="json"))
        held = await self._held(probe_id) if live else None
        last = held.last_seq if held else await self._archived_seq(probe_id)
        seen, told = _starting_point(position, summary, last)
        if told is not None:
            yield told
        if held is not None and live is not None:
            async with aclosing(self._while_it_runs(held, live, seen, probe_id)) as running:
                async for event in running:
                    seen = event.seq or seen
                    yield event
        for event in _lines(await self._archived(probe_id, seen), seen):
            seen = event.seq or seen
            yield event
        final = await self.summary(probe_id)
        for event in await self._last_words(final, summary.epoch, seen):
            yield event

    async def _last_words(self, final: ProbeSummary, epoch: str, seen: int) -> list[Event]:
        words = []
        if final.epoch != epoch:
            # Some of what the reader has seen was lost before it was stored.
            seen = await self._archived_seq(final.id)
            words.append(_gap("numbering_changed", 1, seen))
        if final.state.final:
            words.append(Event("done", {"seq": seen + 1, **final.model_dump(mode="json")}, seen + 1))
        return words

    async def _while_it_runs(
        self, held: Snapshot | None, live: Following, seen: int, probe_id: UUID
    ) -> AsyncGenerator[Event, None]:
        """Lines from the relay until it has an ending, or can no longer be believed."""
        while held is not None:
            for event in _lines(held.lines, seen):
                seen = event.seq or seen
                yield event
            if held.ending is not None:
                return
            async with aclosing(_live(live, seen)) as news:
                async for event in news:
                    seen = event.seq or seen
                    yield event
            held = await self._held(probe_id, after=seen)
            if held is not None and held.last_seq < seen:
                return  # the tier came back with an older state; what is stored is what counts

    async def _held(self, probe_id: UUID, after: int = 0) -> Snapshot | None:
        """What the relay holds; without the tier that has it, readers go by what is stored."""
        try:
            return await self.relay.read(probe_id, after)
        except TierUnavailable:
            return None

    async def _archived(self, probe_id: UUID, after: int) -> list[Line]:
        async with self.database.reading() as session:
            return await ProbeRepository(session).list_lines(probe_id, after)

    async def _archived_seq(self, probe_id: UUID) -> int:
        async with self.database.reading() as session:
            probe = await ProbeRepository(session).find(probe_id)
        return probe.archived_seq if probe else 0


def _starting_point(position: Position | None, summary: ProbeSummary, last: int) -> tuple[int, Event | None]:
    """The number to go on from, and what the reader must be told first."""
    if position is None:
        return 0, None
    if position.epoch != summary.epoch or position.seq > last + 1:
        return 0, _gap("numbering_changed", 1, last)
    return min(position.seq, last), None


def _gap(reason: str, first: int, last: int) -> Event:
    """A word that lines are missing or come again. Without a number, so that it moves no position."""
    return Event("gap", {"reason": reason, "from": first, "to": last})


def _lines(lines: Sequence[Line], seen: int) -> Iterator[Event]:
    for line in lines:
        if line.seq <= seen:
            continue
        if line.seq > seen + 1:
            yield _gap("dropped", seen + 1, line.seq - 1)
        seen = line.seq
        yield output_event(line)


async def _live(live: Following, seen: int) -> AsyncGenerator[Event, None]:
    """News as they come, until the list must be read again: messages were dropped, or it is the end."""
    while True:
        message = await live.get()
        if isinstance(message, Resync):
            return
        if isinstance(message, Changed):
            yield Event("state", message.data)
        elif message.seq == seen + 1:
            seen = message.seq
            yield output_event(message)
        elif message.seq > seen:
            return


def output_event(line: Line) -> Event:
    """A line as an event."""
    data: dict[str, Any] = {
        "node": line.node,
        "seq": line.seq,
        "stream": line.stream,
        "text": line.text,
    }
    return Event("output", data, line.seq)
