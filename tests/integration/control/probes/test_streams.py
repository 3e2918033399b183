"""Readers of a probe: none misses a line, none holds the server, none cancels by leaving."""

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest

from control_server.probes.schemas import Event, ProbeJob
from control_server.probes.store import ProbeRelay
from shared.protocol.frames import ProbeCancel, ProbeStart, ProbeStored
from shared.protocol.probes import ProbeLimits
from shared.testing.fake_agent import FakeAgent
from shared.testing.fault_proxy import fault_proxy
from shared.testing.waiting import wait_until
from shared.web import streams
from tests.integration.control.probes.stage import (
    NODES,
    HandClock,
    Prepared,
    SeenEvent,
    Stage,
    serving,
    settings_of,
)

FILLING_LINES = 200


@pytest.fixture
async def roomy_stage(on_sqlite: Prepared, tmp_path: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """Probes may print more than kernels and proxies hold in their buffers."""
    settings = settings_of(on_sqlite, tmp_path, total_bytes=100_000_000, line_bytes=65_536)
    async with serving(settings, clock, on_sqlite) as running:
        yield running


def outputs(events: list[SeenEvent]) -> list[str]:
    return [event.data["text"] for event in events if event.name == "output"]


@asynccontextmanager
async def running(stage: Stage) -> AsyncIterator[tuple[FakeAgent, UUID]]:
    """A probe that runs on alpha."""
    async with stage.agent() as agent:
        probe_id = await stage.create("alpha")
        await stage.started(agent)
        yield agent, probe_id


class TestResume:
    async def test_b1_a_reader_that_is_cut_off_goes_on_with_the_next_line(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            texts = [f"line {n}" for n in range(1, 51)]
            await agent.output(probe_id, *texts)
            await agent.expect(ProbeStored)
            async with stage.reader(probe_id) as reader:
                seen = await reader.outputs(50)
            for k in (1, 2, 25, 49, 50):
                async with stage.reader(probe_id, seen[k - 1].id) as again:
                    assert [event.data["seq"] for event in await again.outputs(50 - k)] == [*range(k + 1, 51)]
            async with stage.reader(probe_id, seen[9].id) as again:
                await agent.done(probe_id)
                assert outputs(await again.rest()) == texts[10:]

    async def test_b1_the_archive_goes_on_at_the_same_line(self, any_stage: Stage) -> None:
        async with running(any_stage) as (agent, probe_id):
            await agent.output(probe_id, *(f"line {n}" for n in range(1, 51)))
            await agent.done(probe_id)
            await any_stage.finished(probe_id)
        seen = [event for event in await any_stage.watched(probe_id) if event.name == "output"]
        any_stage.clock.turn(3600)
        await any_stage.watch.run_once()
        assert not await any_stage.runs.relay.holds(probe_id)
        for k in (1, 25, 49, 50):
            events = await any_stage.watched(probe_id, seen[k - 1].id)
            assert [event.id for event in events if event.name == "output"] == [e.id for e in seen[k:]]
            assert events[-1].name == "done"

    async def test_the_position_may_stand_in_the_query(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            await agent.output(probe_id, "one", "two")
            await agent.done(probe_id)
            await stage.finished(probe_id)
        first, _ = [event for event in await stage.watched(probe_id) if event.name == "output"]
        answer = await stage.request("GET", f"/api/v1/probes/{probe_id}/stream?last_event_id={first.id}")
        assert '"text":"two"' in answer.text
        assert '"text":"one"' not in answer.text

    async def test_a_reader_of_another_numbering_starts_again_and_is_told(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            await agent.output(probe_id, "one", "two")
            await agent.done(probe_id)
            await stage.finished(probe_id)
        for position in ("abcdefgh-1", "nonsense-99999"):
            events = await stage.watched(probe_id, position)
            gap = next(event for event in events if event.name == "gap")
            assert (gap.id, gap.data["reason"]) == ("", "numbering_changed")
            assert outputs(events) == ["one", "two"]

    async def test_whoever_has_had_the_end_is_told_to_stay_away(self, any_stage: Stage) -> None:
        async with running(any_stage) as (agent, probe_id):
            await agent.output(probe_id, "one")
            await agent.done(probe_id)
            await any_stage.finished(probe_id)
        end = (await any_stage.watched(probe_id))[-1]
        path = f"/api/v1/probes/{probe_id}/stream"
        for seconds in (0, 3600):
            any_stage.clock.turn(seconds)
            await any_stage.watch.run_once()
            answer = await any_stage.request("GET", f"{path}?last_event_id={end.id}")
            assert (answer.status_code, answer.content) == (204, b"")

    async def test_an_unknown_probe_is_a_problem(self, stage: Stage) -> None:
        answer = await stage.request("GET", f"/api/v1/probes/{UUID(int=1)}/stream")
        assert (answer.status_code, answer.json()["code"]) == (404, "probe_not_found")


class TestGaps:
    async def test_b3_a_reader_of_forgotten_lines_is_told_which(self, stage: Stage) -> None:
        async with log_tail(stage) as (agent, probe_id, epoch):
            await agent.output(probe_id, *(str(n) for n in range(1, 1001)))
            await agent.expect(ProbeStored, lambda frame: frame.seq == 1000)
            for position, first in ((f"{epoch}-10", 11), (None, 1)):
                async with stage.reader(probe_id, position) as reader:
                    gap = await reader.until("gap")
                    assert (gap.id, gap.data["from"], gap.data["to"]) == ("", first, 900)
                    assert [event.data["seq"] for event in await reader.outputs(100)] == [*range(901, 1001)]

    async def test_b3_a_reader_that_falls_behind_is_told_as_well(self, stage: Stage) -> None:
        async with log_tail(stage) as (agent, probe_id, _), stage.runs.relay.subscribe(probe_id) as live:
            await agent.output(probe_id, "1")
            events = stage.runs.reader.follow(probe_id, None, live)
            while (await anext(events)).seq != 1:
                pass
            await agent.output(probe_id, *(str(n) for n in range(2, 1001)))
            await agent.expect(ProbeStored, lambda frame: frame.seq == 1000)
            told: list[Event] = []
            while not told or told[-1].seq != 1000:
                told.append(await anext(events))
            await events.aclose()
        gap = next(event for event in told if event.name == "gap")
        after = told[told.index(gap) + 1]
        assert (gap.data["to"] + 1, gap.seq) == (after.seq, None)


@asynccontextmanager
async def log_tail(stage: Stage) -> AsyncIterator[tuple[FakeAgent, UUID, str]]:
    """A job that keeps the newest hundred lines instead of refusing what comes later."""
    async with running(stage) as (agent, probe_id):
        epoch = (await stage.read(probe_id))["epoch"]
        await stage.runs.relay.drop(probe_id)
        job = ProbeJob(probe_id, epoch, ("alpha",), ProbeLimits(lines=100), viewers=10, drop_oldest=True)
        await stage.runs.relay.open(job)
        yield agent, probe_id, epoch


class TestManyReaders:
    async def test_b2_readers_that_join_at_any_time_see_the_same_list(self, stage: Stage) -> None:
        await crowd(stage, writers=3, lines=40, readers=6)

    @pytest.mark.soak
    async def test_b2_thirty_readers_and_eight_writers(self, stage: Stage) -> None:
        await crowd(stage, writers=8, lines=50, readers=30)

    async def test_more_viewers_than_allowed_are_refused(
        self, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        async with serving(settings_of(on_sqlite, tmp_path, viewers=2), clock, on_sqlite) as stage:
            async with running(stage) as (_, probe_id), stage.reader(probe_id), stage.reader(probe_id):
                answer = await stage.request("GET", f"/api/v1/probes/{probe_id}/stream")
                assert (answer.status_code, answer.json()["code"]) == (429, "probe_too_many_viewers")
                assert int(answer.headers["retry-after"]) >= 1
            await wait_until(lambda: stage.runs.relay.viewers() == 0)

    async def test_a_process_has_so_many_streams_whatever_they_show(
        self, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        async with serving(settings_of(on_sqlite, tmp_path), clock, on_sqlite) as stage:
            stage.app.state.stream_places.limit = 2
            async with running(stage) as (_, probe_id):
                async with stage.reader(probe_id), stage.reader(probe_id):
                    answer = await stage.request("GET", f"/api/v1/probes/{probe_id}/stream")
                    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_streams")
                    assert int(answer.headers["retry-after"]) >= 1
                await wait_until(lambda: stage.app.state.stream_places.taken == 0)
                await wait_until(lambda: stage.runs.relay.viewers() == 0)
                async with stage.reader(probe_id) as reader:
                    await reader.until("state")


class TestLeaving:
    async def test_b7_a_reader_that_leaves_cancels_nothing(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            async with stage.reader(probe_id) as reader:
                await agent.output(probe_id, "one")
                await reader.outputs(1)
            await wait_until(lambda: stage.runs.relay.viewers() == 0)
            await agent.output(probe_id, "two")
            await agent.done(probe_id)
            assert outputs(await stage.watched(probe_id)) == ["one", "two"]
            assert (await stage.read(probe_id))["state"] == "done"
            assert agent.all(ProbeCancel) == []

    async def test_b8_a_reader_that_reads_nothing_is_let_go(
        self, roomy_stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stage = roomy_stage
        # Longer than a busy machine keeps the one that reads from reading.
        monkeypatch.setattr(streams, "SEND_SECONDS", 4.0)
        async with running(stage) as (agent, probe_id):
            idle = await open_and_do_not_read(stage, probe_id, stage.port)
            await wait_until(lambda: stage.runs.relay.viewers() == 1)
            async with stage.reader(probe_id) as reader, asyncio.TaskGroup() as group:
                # It reads all the while: one that waits to be read is idle as well.
                seen = group.create_task(reader.rest())
                await fill(agent, probe_id)
                await wait_until(lambda: stage.runs.relay.viewers() == 1)
                await agent.done(probe_id)
            assert len(outputs(seen.result())) == FILLING_LINES
            idle.close()

    async def test_b9_a_reader_that_resets_is_noticed(self, stage: Stage) -> None:
        async with running(stage) as (_, probe_id):
            idle = await open_and_do_not_read(stage, probe_id, stage.port)
            await wait_until(lambda: stage.runs.relay.viewers() == 1)
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            idle.close()
            await wait_until(lambda: stage.runs.relay.viewers() == 0)
            metrics = await stage.request("GET", "/metrics")
            assert "routeloom_probe_viewers 0.0" in metrics.text

    async def test_b9_a_reader_behind_a_network_that_stalls_is_let_go(
        self, roomy_stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stage = roomy_stage
        monkeypatch.setattr(streams, "SEND_SECONDS", 0.5)
        async with running(stage) as (agent, probe_id), fault_proxy(stage.port) as proxy:
            idle = await open_and_do_not_read(stage, probe_id, proxy.port)
            await wait_until(lambda: stage.runs.relay.viewers() == 1)
            proxy.pause()
            await fill(agent, probe_id)
            await wait_until(lambda: stage.runs.relay.viewers() == 0)
            idle.close()


class TestTransport:
    async def test_b10_the_server_stops_with_streams_open(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            await agent.output(probe_id, "one")
            joined = asyncio.Semaphore(0)
            async with asyncio.TaskGroup() as group:
                waiting = [group.create_task(until_the_end(stage, probe_id, joined)) for _ in range(20)]
                for _ in waiting:
                    await joined.acquire()
                stage.server.should_exit = True
            assert [task.result() for task in waiting] == [streams.RETRY_MILLISECONDS] * 20
            assert stage.runs.relay.viewers() == 0

    async def test_b11_events_are_never_compressed(self, stage: Stage) -> None:
        async with running(stage) as (agent, probe_id):
            await agent.output(probe_id, "one")
            headers = stage.authorization("operator") | {"Accept-Encoding": "gzip, br"}
            path = f"/api/v1/probes/{probe_id}/stream"
            async with stage.client.stream("GET", path, headers=headers) as response:
                assert "content-encoding" not in response.headers
                assert response.headers["content-type"].startswith("text/event-stream")
                assert response.headers["x-accel-buffering"] == "no"
                assert response.headers["cache-control"] == "no-store"
                first = await anext(response.aiter_bytes())
            assert first.startswith(b"retry: ")

    async def test_readers_need_the_right_to_look(self, stage: Stage) -> None:
        async with running(stage) as (_, probe_id):
            answer = await stage.client.get(f"/api/v1/probes/{probe_id}/stream")
        assert answer.status_code == 401


async def until_the_end(stage: Stage, probe_id: UUID, joined: asyncio.Semaphore) -> int | None:
    async with stage.reader(probe_id) as reader:
        await reader.outputs(1)
        joined.release()
        assert {event.name for event in await reader.rest()} <= {"state"}
        return reader.retry


async def open_and_do_not_read(stage: Stage, probe_id: UUID, port: int) -> socket.socket:
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", port))
    token = stage.tokens["operator"]
    head = (
        f"GET /api/v1/probes/{probe_id}/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}"
    )
    await loop.sock_sendall(connection, f"{head}\r\n\r\n".encode())
    return connection


async def fill(agent: FakeAgent, probe_id: UUID) -> None:
    """More than the buffers of two kernels and a proxy hold."""
    await agent.output(probe_id, *("x" * 60_000 for _ in range(FILLING_LINES)))


async def crowd(stage: Stage, *, writers: int, lines: int, readers: int) -> None:
    chance = random.Random(7)  # noqa: S311 - not a secret
    nodes = NODES[:writers]
    total = writers * lines

    async def write(node: str) -> None:
        async with stage.agent(node) as agent:
            ready.release()
            start = await agent.expect(ProbeStart)
            await agent.accept(start.probe_id)
            sent = 0
            while sent < lines:
                size = min(chance.randint(1, 5), lines - sent)
                await agent.output(start.probe_id, *(f"{node} {sent + n}" for n in range(size)))
                sent += size
                await asyncio.sleep(0)
            await agent.done(start.probe_id)
            await agent.expect(ProbeStored, lambda frame: frame.final)

    async def read(after: int) -> list[SeenEvent]:
        await wait_until(lambda: last_seq(stage, probe_id) >= after)
        return await stage.watched(probe_id)

    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        for node in nodes:
            group.create_task(write(node))
        for _ in nodes:
            await ready.acquire()
        await wait_until(lambda: len(stage.app.state.agent_link.connections.all()) == writers)
        probe_id = await stage.create(*nodes)
        seen = [group.create_task(read(chance.randint(0, total))) for _ in range(readers)]
    stored = (await stage.read(probe_id))["lines"]
    assert [line["seq"] for line in stored] == [*range(1, total + 1)]
    for task in seen:
        assert [event.data for event in task.result() if event.name == "output"] == stored


def last_seq(stage: Stage, probe_id: UUID) -> int:
    entry = cast("ProbeRelay", stage.runs.relay)._entries.get(probe_id)
    return entry.last_seq if entry else 0
