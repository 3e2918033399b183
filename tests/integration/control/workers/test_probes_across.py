"""A probe that spans workers: asked for at A, run by an agent at B, read at both."""

import asyncio
import contextlib
from contextlib import AsyncExitStack
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from control_server.probes.errors import OutputRefused
from control_server.probes.schemas import Outcome, ProbeJob
from control_server.probes.store import KvRelay
from shared.protocol.frames import CloseCode, OutputLine, ProbeCancel, ProbeStart
from shared.protocol.probes import ProbeLimits, ProbeReason, ProbeState
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers import KeyValueServer
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import NODES, SeenEvent, Stage
from tests.integration.control.workers.pair import Pair, numbers, stored, texts


def cut_subscribers(kv: KeyValueServer) -> None:
    with contextlib.suppress(OSError):  # the answer is a number, which the server object takes for a fault
        kv._ask("CLIENT KILL TYPE pubsub")


class TestOneProbe:
    async def test_b17_started_at_one_run_at_the_other_read_at_both(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            async with pair.a.reader(probe_id) as at_a, pair.b.reader(probe_id) as at_b:
                await agent.output(probe_id, "one", "two", "three")
                await agent.done(probe_id)
                seen_at_a, seen_at_b = await at_a.rest(), await at_b.rest()
        for seen in (seen_at_a, seen_at_b):
            assert texts(seen) == ["one", "two", "three"]
            assert [event.name for event in seen].count("done") == 1
        read = await pair.a.read(probe_id)
        assert (read["state"], read["complete"]) == ("done", True)

    async def test_cancelling_reaches_the_agent_at_the_other_worker(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            answer = await pair.a.request("POST", f"/api/v1/probes/{probe_id}/cancel")
            assert answer.status_code == 202
            assert (await agent.expect(ProbeCancel)).probe_id == probe_id
            await agent.done(probe_id, exit_code=None, error=ProbeReason.CANCELLED)
            assert (await pair.a.finished(probe_id))["state"] == "cancelled"

    async def test_b1_a_reader_goes_on_at_the_other_worker(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            async with pair.a.reader(probe_id) as reader:
                await agent.output(probe_id, *(f"line {n}" for n in range(1, 11)))
                seen = await reader.outputs(6)
            async with pair.b.reader(probe_id, seen[-1].id) as reader:
                await agent.output(probe_id, "line 11")
                await agent.done(probe_id)
                rest = await reader.rest()
        assert numbers([*seen, *rest]) == list(range(1, 12))

    @pytest.mark.parametrize(
        ("writers", "lines", "readers"), [(3, 30, 6), pytest.param(8, 50, 30, marks=pytest.mark.soak)]
    )
    async def test_b2_readers_that_join_at_any_time_see_every_line_once(
        self, pair: Pair, writers: int, lines: int, readers: int
    ) -> None:
        nodes = NODES[:writers]
        random = Random(2)  # noqa: S311 - not a secret
        async with asyncio.timeout(60), AsyncExitStack() as stack:
            places = [pair.a, *[pair.b] * (writers - 1)]
            agents = [
                await stack.enter_async_context(place.agent(node))
                for place, node in zip(places, nodes, strict=True)
            ]
            probe_id = await pair.a.create(*nodes)
            await asyncio.gather(*map(pair.begun, agents))

            async def write(agent: FakeAgent) -> None:
                for n in range(1, lines + 1):
                    await agent.output(probe_id, f"{n}")
                    await asyncio.sleep(random.uniform(0, 0.01))
                await agent.done(probe_id)

            async def read(stage: Stage) -> list[SeenEvent]:
                await asyncio.sleep(random.uniform(0, 0.3))
                return await stage.watched(probe_id)

            reading = [read(random.choice([pair.a, pair.b])) for _ in range(readers)]
            results = await asyncio.gather(*reading, *map(write, agents))
        expected = list(range(1, writers * lines + 1))
        kept = [line["seq"] for line in (await pair.a.finished(probe_id))["lines"]]
        assert kept == expected
        for seen in results[:readers]:
            assert seen is not None
            assert numbers(seen) == expected
            assert [event.name for event in seen].count("done") == 1

    async def test_a_batch_that_both_workers_take_is_stored_once(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            batch = [OutputLine(seq=n, text=f"line {n}") for n in range(1, 6)]
            relays = [pair.a.runs.relay, pair.b.runs.relay] * 4
            await asyncio.gather(*(relay.append(probe_id, "alpha", batch) for relay in relays))
            held = await pair.a.runs.relay.read(probe_id)
        assert held is not None
        assert [line.text for line in held.lines] == [line.text for line in batch]

    async def test_lines_that_are_stored_while_a_reader_looks_are_read_all_or_not_yet(
        self, pair: Pair, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            lines = [OutputLine(seq=n, text=f"line {n}") for n in range(1, 5)]
            await pair.b.runs.relay.append(probe_id, "alpha", lines[:2])
            kv = pair.a.resources.kv
            look = kv.read_log

            async def and_meanwhile(*arguments: Any) -> Any:
                seen = await look(*arguments)
                await pair.b.runs.relay.append(probe_id, "alpha", lines)
                return seen

            monkeypatch.setattr(kv, "read_log", and_meanwhile)
            first = await pair.a.runs.relay.read(probe_id, after=2)
            second = await pair.a.runs.relay.read(probe_id, after=2)
        assert first is not None
        assert second is not None
        assert ([line.seq for line in first.lines], first.last_seq) == ([], 2)
        assert [line.seq for line in second.lines] == [3, 4]


class TestEnds:
    @pytest.mark.parametrize("times", [10, pytest.param(200, marks=pytest.mark.soak)])
    async def test_a3_of_two_ends_at_the_same_time_one_counts(self, pair: Pair, times: int) -> None:
        async with pair.b.agent() as agent:
            for _ in range(times):
                probe_id = await pair.running(agent)
                async with pair.a.reader(probe_id) as at_a, pair.b.reader(probe_id) as at_b:
                    lost = Outcome(ProbeState.FAILED, ProbeReason.AGENT_LOST)
                    done = Outcome(ProbeState.DONE)
                    won = await asyncio.gather(
                        pair.a.runs.end_share(probe_id, "alpha", lost),
                        pair.b.runs.end_share(probe_id, "alpha", done),
                    )
                    assert sorted(won) == [False, True]
                    seen = [await at_a.rest(), await at_b.rest()]
                read = await pair.a.read(probe_id)
                assert read["finished_at"] is not None
                ends = [event.data["state"] for events in seen for event in events if event.name == "done"]
                assert ends == [read["state"]] * 2

    async def test_the_watch_of_another_worker_leaves_running_probes_alone(self, pair: Pair) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            await pair.a.watch.recover()
            await pair.a.watch.run_once()
            await pair.a.watch.run_once()
            assert (await pair.a.read(probe_id))["state"] == "running"
            await agent.done(probe_id)
            assert (await pair.a.finished(probe_id))["state"] == "done"


@pytest.fixture
async def log_job(pair: Pair) -> tuple[KvRelay, KvRelay, UUID]:
    """A log of one node, which keeps its newest lines."""
    one, two = KvRelay(pair.a.resources.kv), KvRelay(pair.b.resources.kv)
    job = ProbeJob(uuid4(), "epoch", ("alpha",), ProbeLimits(lines=100), viewers=2, drop_oldest=True)
    await one.open(job)
    return one, two, job.id


class TestLogs:
    async def test_b3_forgets_the_oldest_and_goes_on_counting(
        self, log_job: tuple[KvRelay, KvRelay, UUID]
    ) -> None:
        one, two, probe_id = log_job
        for first in range(1, 1001, 50):
            batch = [OutputLine(seq=n, text=str(n)) for n in range(first, first + 50)]
            await one.append(probe_id, "alpha", batch)
        held = await two.read(probe_id, after=10)
        assert held is not None
        assert [line.seq for line in held.lines] == [*range(901, 1001)]
        assert held.last_seq == 1000
        assert held.accepted == {"alpha": 1000}

    async def test_b3_an_expired_list_says_nothing_and_breaks_nothing(
        self, log_job: tuple[KvRelay, KvRelay, UUID], kv: KeyValueServer
    ) -> None:
        one, two, probe_id = log_job
        held = await two.read(probe_id, after=10)
        assert held is not None
        assert (held.lines, held.last_seq) == ((), 0)
        kv.flush()
        assert await one.read(probe_id, after=10) is None
        with pytest.raises(OutputRefused):
            await one.append(probe_id, "alpha", [OutputLine(seq=1, text="late")])
        assert await two.read(probe_id) is None


class TestLostConnections:
    async def test_b15_subscribers_that_are_cut_off_read_again(self, pair: Pair, kv: KeyValueServer) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            async with pair.a.reader(probe_id) as at_a, pair.b.reader(probe_id) as at_b:
                for n in range(1, 6):
                    await agent.output(probe_id, f"before {n}", f"after {n}")
                    await stored(agent, 2 * n)
                    cut_subscribers(kv)
                await agent.done(probe_id)
                seen = [await at_a.rest(), await at_b.rest()]
        for events in seen:
            assert numbers(events) == list(range(1, 11))
            assert [event.name for event in events].count("done") == 1
            assert "gap" not in {event.name for event in events}

    async def test_b20_a_tier_that_forgets_ends_the_probe_and_says_so(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            async with pair.a.reader(probe_id) as reader:
                await agent.output(probe_id, "one", "two")
                first = await reader.outputs(2)
                await pair.a.watch.run_once()
                kv.flush()
                await agent.output(probe_id, "three")
                rest = await reader.rest()
            read = await pair.a.finished(probe_id)
            if rest[-1].name != "done":  # it was cut off a moment before the end was stored, and comes back
                rest = await pair.a.watched(probe_id, first[-1].id)
        assert (read["state"], read["reason"]) == ("failed", "server_restarted")
        assert [line["text"] for line in read["lines"]] == ["one", "two"]
        assert read["epoch"] != first[0].id.rpartition("-")[0]
        assert [event.data["reason"] for event in rest if event.name == "gap"] == ["numbering_changed"]
        assert rest[-1].name == "done"
        assert rest[-1].id == f"{read['epoch']}-3"
        assert await self.again(pair.b, probe_id, rest[-1].id) == 204

    @staticmethod
    async def again(stage: Stage, probe_id: UUID, last: str) -> int:
        headers = stage.authorization("operator") | {"Last-Event-ID": last}
        answer = await stage.client.get(f"/api/v1/probes/{probe_id}/stream", headers=headers)
        return answer.status_code


class TestTierAway:
    async def test_without_the_tier_a_probe_runs_inside_one_worker(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        kv.stop()
        async with pair.a.agent() as agent:
            probe_id = await pair.a.create("alpha")
            await pair.begun(agent)
            async with pair.a.reader(probe_id) as reader:
                await agent.output(probe_id, "one")
                await agent.done(probe_id)
                assert texts(await reader.rest()) == ["one"]
        assert (await pair.b.read(probe_id))["state"] == "done"

    async def test_what_an_agent_says_meanwhile_is_taken_afterwards(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            await agent.output(probe_id, "before")
            await stored(agent, 1)
            kv.pause()
            await agent.output(probe_id, "meanwhile")
            await agent.done(probe_id)
            await wait_until(lambda: bool(pair.b.runs.stalled.queues()))
            assert (await pair.a.read(probe_id))["state"] == "running"
            kv.resume()
            read = await pair.a.finished(probe_id)
        assert (read["state"], read["complete"]) == ("done", True)
        assert [line["text"] for line in read["lines"]] == ["before", "meanwhile"]

    async def test_with_too_much_that_waits_the_agent_is_let_go_and_sends_it_again(
        self, pair: Pair, kv: KeyValueServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("control_server.probes.service.stalled._MOST_FRAMES", 2)
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            kv.pause()
            for n in range(1, 4):
                await agent.output(probe_id, f"line {n}")
            assert await agent.closed() == CloseCode.GOING_AWAY
        kv.resume()
        async with pair.b.agent() as agent:
            await agent.output(probe_id, "line 1", "line 2", "line 3", first_seq=1)
            await agent.done(probe_id)
            read = await pair.a.finished(probe_id)
        assert [line["text"] for line in read["lines"]] == ["line 1", "line 2", "line 3"]

    async def test_a_reader_of_a_frozen_tier_gets_what_is_stored_and_comes_back(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            await agent.output(probe_id, "one", "two")
            await stored(agent, 2)
            await pair.a.watch.run_once()
            kv.pause()
            seen = await pair.a.watched(probe_id)
            assert texts(seen) == ["one", "two"]
            assert seen[-1].name == "output"
            kv.resume()
            await agent.output(probe_id, "three")
            await agent.done(probe_id)
            await pair.a.finished(probe_id)
            rest = await pair.a.watched(probe_id, seen[-1].id)
        assert texts(rest) == ["three"]
        assert rest[-1].name == "done"

    async def test_a_tier_that_restarts_with_an_older_state_ends_what_ran(
        self, pair: Pair, kv: KeyValueServer
    ) -> None:
        async with pair.b.agent() as agent:
            probe_id = await pair.running(agent)
            await agent.output(probe_id, "one")
            await stored(agent, 1)
            kv._ask("SAVE")
            await agent.output(probe_id, "two")
            await stored(agent, 2)
            await pair.a.watch.run_once()
            kv.kill()
            kv.start()
            await wait_until(lambda: pair.a.resources.kv.breaker.state.value == "closed")
            read = await pair.a.finished(probe_id)
        assert (read["state"], read["reason"]) == ("failed", "server_restarted")
        assert [line["text"] for line in read["lines"]] == ["one", "two"]


async def test_a_probe_is_started_once_however_often_it_is_asked_for(pair: Pair) -> None:
    async with pair.b.agent() as agent:
        probe_id = await pair.running(agent)
        await pair.b.runs.agent_ready(pair.b.runs.link.connections.all()[0])
        await agent.done(probe_id)
        await pair.a.finished(probe_id)
    assert {start.probe_id for start in agent.all(ProbeStart)} == {probe_id}
