import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from control_server.probes.errors import OutputRefused, ProbeUnknown, TooManyViewers
from control_server.probes.schemas import Ending, Line, Outcome, ProbeJob
from control_server.probes.store import (
    KEPT_AFTER_END,
    RESYNC,
    TRUNCATED,
    VIEWER_QUEUE,
    Changed,
    ProbeRelay,
)
from shared.protocol.frames import OutputLine
from shared.protocol.probes import OutputStream, ProbeLimits, ProbeReason, ProbeState

DONE = Ending(ProbeState.DONE)
LIMITS = ProbeLimits(lines=5, line_bytes=100, total_bytes=1000)


class Clock:
    at = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


def lines(*texts: str, first: int = 1) -> list[OutputLine]:
    return [OutputLine(seq=first + n, text=text) for n, text in enumerate(texts)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def relay(clock: Clock) -> ProbeRelay:
    return ProbeRelay(clock)


async def opened(relay: ProbeRelay, *, limits: ProbeLimits = LIMITS, drop_oldest: bool = False) -> UUID:
    job = ProbeJob(uuid4(), "epoch", ("a", "b"), limits, viewers=2, drop_oldest=drop_oldest)
    await relay.open(job)
    return job.id


async def texts(relay: ProbeRelay, probe_id: UUID, after: int = 0) -> list[str]:
    held = await relay.read(probe_id, after)
    assert held is not None
    return [line.text for line in held.lines]


class TestAppend:
    async def test_all_nodes_share_one_numbering(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        await relay.append(probe_id, "a", lines("a1"))
        await relay.append(probe_id, "b", lines("b1", "b2"))
        held = await relay.read(probe_id)
        assert held is not None
        assert [(line.seq, line.node) for line in held.lines] == [(1, "a"), (2, "b"), (3, "b")]

    async def test_a_repeated_batch_is_taken_once(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        await relay.append(probe_id, "a", lines("1", "2"))
        appended = await relay.append(probe_id, "a", lines("1", "2", "3"))
        assert appended.stored_seq == 3
        assert await texts(relay, probe_id) == ["1", "2", "3"]

    async def test_strangers_are_refused(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        for wanted, node in ((probe_id, "c"), (uuid4(), "a")):
            with pytest.raises(ProbeUnknown):
                await relay.append(wanted, node, lines("x"))

    async def test_a_node_that_is_over_its_share_leaves_the_others_theirs(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        appended = await relay.append(probe_id, "a", lines(*"12345678"))
        assert appended.over_limit
        with pytest.raises(OutputRefused):
            await relay.append(probe_id, "a", lines("9", first=9))
        assert not (await relay.append(probe_id, "b", lines(*"12345"))).over_limit
        found = await texts(relay, probe_id)
        assert found == [*"12345", TRUNCATED, *"12345"]

    @pytest.mark.parametrize("huge", [["x" * 5000], ["x" * 400] * 3], ids=["a line", "all lines"])
    async def test_bytes_are_bounded(self, relay: ProbeRelay, huge: list[str]) -> None:
        probe_id = await opened(relay)
        assert (await relay.append(probe_id, "a", lines(*huge))).over_limit
        found = await texts(relay, probe_id)
        assert found[-1] == TRUNCATED
        assert sum(len(text) for text in found) < 2000

    async def test_b3_a_log_forgets_its_oldest_lines_and_keeps_counting(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay, limits=ProbeLimits(lines=100), drop_oldest=True)
        for n in range(1, 1001):
            await relay.append(probe_id, "a", lines(str(n), first=n))
        held = await relay.read(probe_id, after=10)
        assert held is not None
        assert [line.seq for line in held.lines] == [*range(901, 1001)]
        assert held.last_seq == 1000


class TestClosing:
    async def test_the_first_outcome_counts(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        await relay.append(probe_id, "a", lines("1"))
        first = Outcome(ProbeState.DONE)
        late = Outcome(ProbeState.EXPIRED, ProbeReason.DEADLINE)
        for outcome in (first, late):
            closed = await relay.close_share(probe_id, "a", outcome)
            assert closed is not None
            assert (closed.outcome, closed.accepted_lines) == (first, 1)
        with pytest.raises(OutputRefused):
            await relay.append(probe_id, "a", lines("2", first=2))

    async def test_a_probe_ends_once(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        assert await relay.finish(probe_id, DONE)
        assert not await relay.finish(probe_id, Ending(ProbeState.FAILED))
        held = await relay.read(probe_id)
        assert held is not None
        assert held.ending == DONE
        assert await relay.unfinished() == []

    async def test_memory_is_freed_a_while_after_the_end(self, relay: ProbeRelay, clock: Clock) -> None:
        probe_id = await opened(relay)
        running = await opened(relay)
        await relay.finish(probe_id, DONE)
        clock.at += KEPT_AFTER_END - timedelta(seconds=1)
        await relay.sweep()
        assert await relay.holds(probe_id)
        clock.at += timedelta(seconds=1)
        await relay.sweep()
        assert not await relay.holds(probe_id)
        assert await relay.holds(running)


class TestSubscribing:
    async def test_lines_news_and_the_end_come_in_order(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        async with relay.subscribe(probe_id) as viewer:
            assert viewer is not None
            await relay.append(probe_id, "a", lines("1"))
            await relay.announce(probe_id, {"state": "done"})
            await relay.finish(probe_id, DONE)
            seen = [await viewer.get() for _ in range(3)]
        assert seen == [Line(1, "a", OutputStream.STDOUT, "1"), Changed({"state": "done"}), RESYNC]

    async def test_a_slow_viewer_is_told_to_read_again(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay, limits=ProbeLimits())
        async with relay.subscribe(probe_id) as viewer:
            assert viewer is not None
            await relay.append(probe_id, "a", lines(*("x" for _ in range(VIEWER_QUEUE + 10))))
            assert await viewer.get() is RESYNC
            following = await viewer.get()
            assert isinstance(following, Line)
            assert following.seq == VIEWER_QUEUE + 2

    async def test_only_so_many_may_watch(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        async with relay.subscribe(probe_id), relay.subscribe(probe_id):
            assert relay.viewers() == 2
            with pytest.raises(TooManyViewers):
                async with relay.subscribe(probe_id):
                    pass
        assert relay.viewers() == 0

    async def test_a_viewer_of_nothing_has_no_queue(self, relay: ProbeRelay) -> None:
        async with relay.subscribe(uuid4()) as viewer:
            assert viewer is None

    async def test_a_viewer_waits_for_what_comes(self, relay: ProbeRelay) -> None:
        probe_id = await opened(relay)
        async with relay.subscribe(probe_id) as viewer:
            assert viewer is not None
            waiting = asyncio.create_task(viewer.get())
            await asyncio.sleep(0)
            await relay.append(probe_id, "a", lines("1"))
            assert await waiting == Line(1, "a", OutputStream.STDOUT, "1")
