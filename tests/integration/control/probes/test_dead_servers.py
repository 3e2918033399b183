"""A server that dies in the middle: one ending with a reason, and whoever reads is told what is missing."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2 as httpx
import pytest

from control_server.probes.repository import ProbeRepository
from control_server.probes.schemas import Ending
from control_server.probes.store import ProbeRelay
from shared.protocol.frames import ProbeRefused, ProbeStart, ProbeStored
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import (
    PLAIN,
    HandClock,
    Prepared,
    Stage,
    serving,
    settings_of,
)


@asynccontextmanager
async def again(prepared: Prepared, directory: Path, clock: HandClock) -> AsyncIterator[Stage]:
    """Another process's object graph on the same database, after its first look around."""
    async with serving(settings_of(prepared, directory), clock, prepared) as stage:
        await stage.watch.run_once()
        yield stage


class TestAtTheEnd:
    async def test_killed_before_the_end_is_stored(
        self, prepared: Prepared, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Held until the server is gone, or its watch would finish what hangs.
        with hanging(monkeypatch, ProbeRepository, "claim_share_end") as reached:
            async with again(prepared, tmp_path, clock) as stage, stage.agent() as agent:
                probe_id = await stage.create("alpha")
                await stage.started(agent)
                await agent.output(probe_id, "one", "two")
                await agent.expect(ProbeStored)
                await stage.watch.run_once()
                await agent.output(probe_id, "three")
                await agent.done(probe_id)
                await reached.wait()
                stage.server.should_exit = True
                await agent.closed()
        clock.turn(3600)
        async with again(prepared, tmp_path, clock) as stage:
            read = await stage.read(probe_id)
            assert (read["state"], read["reason"]) == ("failed", "server_restarted")
            texts = [line["text"] for line in read["lines"]]
            assert texts in (["one", "two"], ["one", "two", "three"])  # the watch stores every second
            assert read["complete"] is False
            assert f"after number {len(texts)} may be missing" in read["missing"]
            events = await stage.watched(probe_id)
            assert [event.name for event in events] == ["state", *["output"] * len(texts), "done"]
            async with stage.agent() as agent:
                await agent.output(probe_id, "three", first_seq=3)
                await agent.expect(ProbeRefused)
                await agent.done(probe_id)
                await agent.expect(ProbeRefused)
            assert await stage.read(probe_id) == read

    async def test_killed_between_the_archive_and_the_terminal_event(
        self, prepared: Prepared, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with again(prepared, tmp_path, clock) as stage, stage.agent() as agent:
            probe_id = await stage.create("alpha")
            with hanging(monkeypatch, ProbeRelay, "finish") as reached:
                await agent.play(await stage.started(agent), ["one", "two"])
                await reached.wait()
                stage.server.should_exit = True
                await agent.closed()
        clock.turn(3600)
        async with again(prepared, tmp_path, clock) as stage:
            read = await stage.read(probe_id)
            assert (read["state"], read["reason"], read["complete"]) == ("done", None, True)
            assert [line["text"] for line in read["lines"]] == ["one", "two"]
            events = await stage.watched(probe_id)
            assert [event.name for event in events] == ["state", "output", "output", "done"]
            assert events[-1].id == f"{read['epoch']}-3"

    async def test_an_end_that_viewers_were_not_told_of_is_told_by_the_watch(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def cut_off(relay: ProbeRelay, probe_id: UUID, ending: Ending) -> bool:
            raise asyncio.CancelledError

        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            async with stage.reader(probe_id) as reader:
                with monkeypatch.context() as patch:
                    patch.setattr(ProbeRelay, "finish", cut_off)
                    await agent.play(await stage.started(agent), ["one"])
                    await stage.finished(probe_id)
                await stage.watch.run_once()
                events = await reader.rest()
        assert [event.name for event in events].count("done") == 1
        assert events[-1].data["state"] == "done"

    async def test_an_end_that_could_not_be_stored_is_stored_later(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def away(*_: object) -> bool:
            raise OSError

        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            with monkeypatch.context() as patch:
                patch.setattr(ProbeRepository, "claim_share_end", away)
                await agent.play(await stage.started(agent), ["one"], summary={"kept": True})
                await wait_until(lambda: is_closed(stage, probe_id))
            await stage.watch.run_once()
            read = await stage.finished(probe_id)
        assert (read["state"], read["nodes"][0]["summary"]) == ("done", {"kept": True})


@pytest.mark.processes
class TestKilledProcess:
    async def test_killed_in_the_middle_of_a_probe(
        self, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        async with killable(on_sqlite, tmp_path) as server:
            async with FakeAgent(server.url, on_sqlite.tokens["alpha"]) as agent:
                await agent.hello()
                probe_id = await server.create()
                await agent.accept((await agent.expect(ProbeStart)).probe_id)
                await agent.output(probe_id, *(f"line {n}" for n in range(1, 31)))
                await wait_until(lambda: server.has_archived(probe_id, 30))
                await agent.output(probe_id, *(f"line {n}" for n in range(31, 41)))
                await agent.expect(ProbeStored, lambda frame: frame.seq == 40)
                server.kill()
                await agent.closed()
            await server.start()
            await wait_until(lambda: server.is_final(probe_id))
            read = await server.read(probe_id)
            assert (read["state"], read["reason"]) == ("failed", "server_restarted")
            archived = [line["text"] for line in read["lines"]]
            assert archived == [f"line {n}" for n in range(1, len(archived) + 1)]
            assert len(archived) >= 30
            assert f"after number {len(archived)} may be missing" in read["missing"]
        clock.turn(365 * 86400)  # the dead server had the real time
        async with again(on_sqlite, tmp_path, clock) as later:
            assert await later.read(probe_id) == read
            events = await later.watched(probe_id, f"{'x' * 8}-35")
            assert [event.name for event in events].count("done") == 1
            assert [event.data["reason"] for event in events if event.name == "gap"] == ["numbering_changed"]


class KillableServer:
    """`python -m control_server serve` on a port of its own."""

    def __init__(self, prepared: Prepared, directory: Path) -> None:
        self.url = ""
        self._prepared, self._directory = prepared, directory
        self._process: subprocess.Popen[bytes] | None = None
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {prepared.tokens['operator']}"}, timeout=30, verify=PLAIN
        )

    async def start(self) -> None:
        port = free_loopback_port()
        self.url = f"http://localhost:{port}"
        settings = {
            "ROUTELOOM_CONTROL_DATABASE__URL": self._prepared.url,
            "ROUTELOOM_CONTROL_STATE_DIRECTORY": str(self._directory),
            "ROUTELOOM_CONTROL_WEB__PORT": str(port),
        }
        with (self._directory / "server.log").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "control_server", "serve"],
                env=os.environ | settings,
                stdout=output,
                stderr=output,
            )
        await wait_until(self._lives, seconds=60)

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    async def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        await self._client.aclose()

    async def create(self) -> UUID:
        body = {"nodes": ["alpha"], "tool": "ping", "target": "192.0.2.1"}
        answer = await self._client.post(f"{self.url}/api/v1/probes", json=body)
        return UUID(answer.json()["id"])

    async def read(self, probe_id: UUID) -> dict[str, Any]:
        read: dict[str, Any] = (await self._client.get(f"{self.url}/api/v1/probes/{probe_id}")).json()
        return read

    async def has_archived(self, probe_id: UUID, count: int) -> bool:
        return bool((await self.read(probe_id))["nodes"][0]["archived_lines"] == count)

    async def is_final(self, probe_id: UUID) -> bool:
        return (await self.read(probe_id))["finished_at"] is not None

    async def _lives(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._directory / "server.log").read_text()[-2000:]
        with contextlib.suppress(httpx.TransportError):
            return (await self._client.get(f"{self.url}/livez")).status_code == 200
        return False


@asynccontextmanager
async def killable(prepared: Prepared, directory: Path) -> AsyncIterator[KillableServer]:
    server = KillableServer(prepared, directory)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


@contextmanager
def hanging(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> Iterator[asyncio.Event]:
    """Whoever calls this goes no further; the event says that somebody has."""
    reached = asyncio.Event()

    async def hang(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, hang)
        yield reached


async def is_closed(stage: Stage, probe_id: UUID) -> bool:
    return await stage.runs.relay.closed_share(probe_id, "alpha") is not None
