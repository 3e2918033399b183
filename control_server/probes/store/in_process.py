"""Running probes in the memory of this process: one list, one numbering, one channel a probe (S1, S16).

The path of Lite, and the fallback of Full. Every step that must be atomic has no `await`
inside, which on one event loop is what a script is on a server. What goes in and comes out are values.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from control_server.probes.errors import OutputRefused, ProbeUnknown, TooManyViewers
from control_server.probes.rules import take
from control_server.probes.schemas import Appended, Closed, Ending, Line, Outcome, ProbeJob, Snapshot, Tally
from control_server.probes.store.relay import (
    KEPT_AFTER_END,
    RESYNC,
    VIEWER_QUEUE,
    Changed,
    Message,
)
from shared.kernel.clock import Clock
from shared.protocol.frames import OutputLine
from shared.protocol.probes import OutputStream


class Subscription:
    """One viewer's queue. Subscribing comes before reading the list, never after (S3)."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: deque[Message] = deque()
        self._arrived = asyncio.Event()

    def put(self, message: Message) -> None:
        """Queue it; a viewer that is too far behind is told to read the list again instead (S5)."""
        if len(self._waiting) >= VIEWER_QUEUE:
            self._waiting.clear()
            message = RESYNC
        self._waiting.append(message)
        self._arrived.set()

    async def get(self) -> Message:
        """The next message."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()


@dataclass(slots=True)
class _Share:
    tally: Tally = field(default_factory=Tally)
    closed: Closed | None = None


@dataclass(slots=True)
class _Entry:
    job: ProbeJob
    shares: dict[str, _Share]
    lines: deque[Line] = field(default_factory=deque)
    #: A counter of its own: the length of a list that is trimmed is no number of anything (S2).
    last_seq: int = 0
    ending: Ending | None = None
    free_at: datetime | None = None
    viewers: set[Subscription] = field(default_factory=set)

    def tell(self, message: Message) -> None:
        for viewer in self.viewers:
            viewer.put(message)

    def push(self, node: str, stream: OutputStream, text: str) -> None:
        self.last_seq += 1
        line = Line(self.last_seq, node, stream, text)
        self.lines.append(line)
        if self.job.drop_oldest and len(self.lines) > self.job.each.lines:
            self.lines.popleft()
        self.tell(line)


class ProbeRelay:
    """Running probes of this process."""

    def __init__(self, now: Clock) -> None:
        """Start with none."""
        self._now = now
        self._entries: dict[UUID, _Entry] = {}

    async def open(self, job: ProbeJob) -> None:
        """Begin a probe; opening it again changes nothing."""
        if job.id in self._entries:
            return
        self._entries[job.id] = _Entry(job, {node: _Share() for node in job.nodes})

    async def holds(self, probe_id: UUID) -> bool:
        """Whether the probe is still known here."""
        return probe_id in self._entries

    async def unfinished(self) -> list[UUID]:
        """Probes without an ending."""
        return [probe_id for probe_id, entry in self._entries.items() if entry.ending is None]

    async def append(self, probe_id: UUID, node: str, lines: Sequence[OutputLine]) -> Appended:
        """Take a batch of a node, each line once (S15). Raises ProbeUnknown or OutputRefused."""
        entry, share = self._share(probe_id, node)
        if share.closed is not None or share.tally.truncated:
            raise OutputRefused
        share.tally, taken = take(entry.job, share.tally, lines)
        for stream, text in taken:
            entry.push(node, stream, text)
        return Appended(share.tally.agent_seq, over_limit=share.tally.truncated)

    async def close_share(self, probe_id: UUID, node: str, outcome: Outcome) -> Closed | None:
        """Take no more lines of the node. The first outcome counts; None when the probe is not held."""
        try:
            _, share = self._share(probe_id, node)
        except ProbeUnknown:
            return None
        if share.closed is None:
            share.closed = Closed(outcome, share.tally.lines, share.tally.truncated or outcome.truncated)
        return share.closed

    async def closed_share(self, probe_id: UUID, node: str) -> Closed | None:
        """How the node's share was closed, if it was."""
        entry = self._entries.get(probe_id)
        share = entry.shares.get(node) if entry else None
        return share.closed if share else None

    async def announce(self, probe_id: UUID, data: dict[str, Any]) -> None:
        """Tell viewers of a change that is no line. Whoever comes later reads the state instead."""
        entry = self._entries.get(probe_id)
        if entry is not None:
            entry.tell(Changed(data))

    async def finish(self, probe_id: UUID, ending: Ending) -> bool:
        """End the probe once, after every line; later callers change nothing (S7)."""
        entry = self._entries.get(probe_id)
        if entry is None or entry.ending is not None:
            return False
        entry.ending = ending
        entry.free_at = self._now() + KEPT_AFTER_END
        entry.tell(RESYNC)
        return True

    async def read(self, probe_id: UUID, after: int = 0) -> Snapshot | None:
        """The lines with a greater number, and the ending if there is one; None when not held."""
        entry = self._entries.get(probe_id)
        if entry is None:
            return None
        lines = tuple(line for line in entry.lines if line.seq > after)
        accepted = {node: share.tally.lines for node, share in entry.shares.items()}
        return Snapshot(lines, entry.last_seq, entry.ending, accepted)

    @asynccontextmanager
    async def subscribe(self, probe_id: UUID) -> AsyncIterator[Subscription | None]:
        """A viewer's queue, for as long as the body runs; None when not held. Raises TooManyViewers."""
        entry = self._entries.get(probe_id)
        if entry is None:
            yield None
            return
        if len(entry.viewers) >= entry.job.viewers:
            raise TooManyViewers
        subscription = Subscription()
        entry.viewers.add(subscription)
        try:
            yield subscription
        finally:
            entry.viewers.discard(subscription)

    async def sweep(self) -> None:
        """Free what ended a while ago; its viewers go on from the archive."""
        now = self._now()
        for probe_id, entry in list(self._entries.items()):
            if entry.free_at is not None and now >= entry.free_at:
                del self._entries[probe_id]
                entry.tell(RESYNC)

    async def drop(self, probe_id: UUID) -> None:
        """Forget a probe at once."""
        entry = self._entries.pop(probe_id, None)
        if entry is not None:
            entry.tell(RESYNC)

    def viewers(self) -> int:
        """Open subscriptions, for metrics."""
        return sum(len(entry.viewers) for entry in self._entries.values())

    def _share(self, probe_id: UUID, node: str) -> tuple[_Entry, _Share]:
        entry = self._entries.get(probe_id)
        share = entry.shares.get(node) if entry else None
        if entry is None or share is None:
            raise ProbeUnknown
        return entry, share
