"""Running probes on the kv tier, shared by every worker: one list, one numbering, one channel a probe.

The tally of a node's share is exchanged in the same step that stores its lines. So when an agent changes from
one worker to another in the middle, a batch that both of them try to store is stored once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from control_server.keys import PROBE_JOB, PROBE_NEWS, PROBE_OUTPUT, PROBE_SHARE
from control_server.probes.errors import OutputRefused, ProbeUnknown, TooManyViewers
from control_server.probes.rules import take
from control_server.probes.schemas import Appended, Closed, Ending, Line, Outcome, ProbeJob, Snapshot, Tally
from control_server.probes.store.relay import KEPT_AFTER_END, RESYNC, VIEWER_QUEUE, Changed, Message
from shared.cache import Advance, Cache, Key, LogItem, LogStep, LogTarget, Subscription
from shared.cache import Message as Published
from shared.protocol.frames import OutputLine
from shared.protocol.probes import OutputStream

_RUNNING_SECONDS = 3600
_ENDED_SECONDS = KEPT_AFTER_END.total_seconds()
_AGAIN = {"again": True}


@dataclass(frozen=True, slots=True)
class _Share:
    tally: Tally = field(default_factory=Tally)
    closed: Closed | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    job: ProbeJob
    ending: Ending | None = None


_SHARE = TypeAdapter(_Share)
_JOB = TypeAdapter(_Job)


@dataclass(frozen=True, slots=True)
class _Keys:
    """Where a probe is kept."""

    probe: UUID

    @property
    def job(self) -> Key:
        return PROBE_JOB.key(probe=str(self.probe))

    @property
    def lines(self) -> Key:
        return PROBE_OUTPUT.key(probe=str(self.probe))

    @property
    def news(self) -> Key:
        return PROBE_NEWS.key(probe=str(self.probe))

    def share(self, node: str) -> Key:
        return PROBE_SHARE.key(probe=str(self.probe), node=node)

    def all(self, job: ProbeJob) -> list[Key]:
        return [self.job, self.lines, *map(self.share, job.nodes)]


class News:
    """What a viewer hears, from the one subscriber connection of the process."""

    def __init__(self, subscription: Subscription) -> None:
        """Read from the subscription."""
        self._events = subscription

    async def get(self) -> Message:
        """The next message; a lost connection, and one that is back, both mean: read the list again."""
        async for event in self._events:
            if not isinstance(event, Published):
                return RESYNC
            if event.sequence is not None:
                return _line(event.sequence, event.value)
            changed = event.value.get("changed")
            return RESYNC if changed is None else Changed(changed)
        return RESYNC


@dataclass(slots=True)
class KvRelay:
    """Running probes of every process. Raises TierUnavailable where the tier cannot answer."""

    kv: Cache
    _viewers: Counter[UUID] = field(default_factory=Counter)
    #: Probes that were opened here and are not known to have ended.
    _opened: set[UUID] = field(default_factory=set)

    async def open(self, job: ProbeJob) -> None:
        """Begin a probe; opening it again changes nothing."""
        self._opened.add(job.id)
        value = _JOB.dump_python(_Job(job), mode="json")
        await self.kv.set_json_if_absent(_Keys(job.id).job, value, ttl_seconds=_RUNNING_SECONDS)

    async def holds(self, probe_id: UUID) -> bool:
        """Whether the probe is still known to the tier."""
        return await self._find(probe_id) is not None

    async def unfinished(self) -> list[UUID]:
        """Probes that were opened or are watched in this process."""
        return list(self._opened | {probe for probe, count in self._viewers.items() if count > 0})

    async def append(self, probe_id: UUID, node: str, lines: Sequence[OutputLine]) -> Appended:
        """Take a batch of a node, each line once (S15). Raises ProbeUnknown or OutputRefused."""
        while True:
            job, seen, share = await self._share(probe_id, node)
            if share.closed is not None or share.tally.truncated:
                raise OutputRefused
            tally, taken = take(job, share.tally, lines)
            answer = Appended(tally.agent_seq, over_limit=tally.truncated)
            if tally == share.tally:
                return answer
            items = [{"n": node, "s": stream.value, "t": text} for stream, text in taken]
            if await self._advance((job, node), seen, _Share(tally), items):
                return answer

    async def close_share(self, probe_id: UUID, node: str, outcome: Outcome) -> Closed | None:
        """Take no more lines of the node. The first outcome counts; None when the probe is not held."""
        try:
            while True:
                job, seen, share = await self._share(probe_id, node)
                if share.closed is not None:
                    return share.closed
                truncated = share.tally.truncated or outcome.truncated
                closed = Closed(outcome, share.tally.lines, truncated)
                if await self._advance((job, node), seen, _Share(share.tally, closed), ()):
                    return closed
        except ProbeUnknown:
            return None

    async def closed_share(self, probe_id: UUID, node: str) -> Closed | None:
        """How the node's share was closed, if it was."""
        seen = await self.kv.get_json(_Keys(probe_id).share(node))
        return _SHARE.validate_python(seen).closed if seen else None

    async def announce(self, probe_id: UUID, data: dict[str, Any]) -> None:
        """Tell viewers of a change that is no line. Whoever comes later reads the state instead."""
        await self.kv.publish(_Keys(probe_id).news, {"changed": data})

    async def finish(self, probe_id: UUID, ending: Ending) -> bool:
        """End the probe once, after every line; viewers look again even where it is not held (S7)."""
        keys = _Keys(probe_id)
        seen = await self.kv.get_json(keys.job)
        found = _JOB.validate_python(seen) if seen else None
        won = False
        if found is not None and found.ending is None:
            following = _JOB.dump_python(_Job(found.job, ending), mode="json")
            won = await self.kv.exchange(keys.job, seen, following, ttl_seconds=_ENDED_SECONDS)
        if won and found is not None:
            await self.kv.keep(*keys.all(found.job), ttl_seconds=_ENDED_SECONDS)
        await self.kv.publish(keys.news, _AGAIN)
        self._opened.discard(probe_id)
        return won

    async def read(self, probe_id: UUID, after: int = 0) -> Snapshot | None:
        """The lines with a greater number, and the ending if there is one; None when not held."""
        keys = _Keys(probe_id)
        found = await self._find(probe_id)  # before the lines: an ending means that they are all there
        if found is None:
            return None
        items = await self._items(keys.lines, 0 if found.job.drop_oldest else after)
        shares = await self.kv.get_many_json([keys.share(node) for node in found.job.nodes])
        accepted = {
            node: _SHARE.validate_python(share).tally.lines if share else 0
            for node, share in zip(found.job.nodes, shares, strict=True)
        }
        lines = tuple(_line(item.sequence, item.value) for item in items if item.sequence > after)
        return Snapshot(lines, items[-1].sequence if items else 0, found.ending, accepted)

    @asynccontextmanager
    async def subscribe(self, probe_id: UUID) -> AsyncIterator[News | None]:
        """A viewer's queue, for as long as the body runs; None when not held. Raises TooManyViewers."""
        found = await self._find(probe_id)
        if found is None:
            yield None
            return
        if self._viewers[probe_id] >= found.job.viewers:
            raise TooManyViewers
        self._viewers[probe_id] += 1
        try:
            async with self.kv.subscribe(_Keys(probe_id).news, limit=VIEWER_QUEUE) as subscription:
                yield News(subscription)
        finally:
            self._viewers[probe_id] -= 1
            self._viewers += Counter()

    async def sweep(self) -> None:
        """Everything there ends by its own TTL."""

    async def drop(self, probe_id: UUID) -> None:
        """Forget a probe at once."""
        found = await self._find(probe_id)
        keys = _Keys(probe_id)
        if found is not None:
            await self.kv.delete(*keys.all(found.job))
        await self.kv.publish(keys.news, _AGAIN)

    def viewers(self) -> int:
        """Open subscriptions of this process, for metrics."""
        return self._viewers.total()

    async def _find(self, probe_id: UUID) -> _Job | None:
        value = await self.kv.get_json(_Keys(probe_id).job)
        return _JOB.validate_python(value) if value else None

    async def _share(self, probe_id: UUID, node: str) -> tuple[ProbeJob, Any, _Share]:
        keys = _Keys(probe_id)
        job, seen = await self.kv.get_many_json([keys.job, keys.share(node)])
        found = _JOB.validate_python(job).job if job else None
        if found is None or node not in found.nodes:
            raise ProbeUnknown
        return found, seen, _SHARE.validate_python(seen) if seen else _Share()

    async def _advance(
        self, whose: tuple[ProbeJob, str], seen: Any, following: _Share, items: Sequence[Any]
    ) -> bool:
        """False when the share has changed since it was seen. Raises ProbeUnknown or OutputRefused."""
        job, node = whose
        keys = _Keys(job.id)
        step = LogStep(
            target=LogTarget(keys.lines, keys.job, keys.news),
            state=keys.share(node),
            seen=seen,
            following=_SHARE.dump_python(following, mode="json"),
            keep_newest=job.each.lines if job.drop_oldest else None,
        )
        advanced = await self.kv.advance(step, *items, ttl_seconds=_RUNNING_SECONDS)
        if advanced.outcome is Advance.GONE:
            raise ProbeUnknown
        if advanced.outcome is Advance.FULL:
            raise OutputRefused
        return advanced.outcome is Advance.DONE

    async def _items(self, log: Key, after: int) -> list[LogItem]:
        """The items from a number on, that one included, so that the numbering's height is known.

        In one read: what is stored between two would show its last line without those before it.
        """
        if found := await self.kv.read_log(log, max(after - 1, 0)):
            return found
        # The list is shorter than what was read before: the tier came back with an older state.
        return [item for item in await self.kv.read_log(log, -1) if item.sequence < after]


def _line(sequence: int, value: dict[str, str]) -> Line:
    return Line(sequence, value["n"], OutputStream(value["s"]), value["t"])
