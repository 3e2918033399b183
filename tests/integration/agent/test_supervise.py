"""The agent as a process of its own: found again, adopted, ended with its tools."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from node_agent import supervise
from node_agent.errors import AgentDidNotStart
from node_agent.settings import AgentSettings
from shared.testing.waiting import wait_until
from tests.integration.agent.control_double import ControlDouble, control_double


@pytest.fixture
async def spawned(settings: AgentSettings) -> AsyncIterator[int]:
    pid = await asyncio.to_thread(supervise.spawn_detached, settings)
    yield pid
    await asyncio.to_thread(supervise.stop, settings.state_directory)


class TestDetached:
    async def test_is_adopted_reconnects_and_ends_with_its_tools(
        self, control: ControlDouble, settings: AgentSettings, spawned: int
    ) -> None:
        directory = settings.state_directory
        assert supervise.running_pid(directory) == spawned
        assert os.getsid(spawned) == spawned != os.getsid(0)
        first = await control.next_line()
        await control.stop()
        assert supervise.running_pid(directory) == spawned
        await control.start()
        assert first.closed
        assert await asyncio.to_thread(supervise.spawn_detached, settings) == spawned
        second = await control.next_line()
        probe_id = await second.start_probe("ping", "127.0.0.1", options={"count": 50})
        await second.expect("probe_output", probe_id)
        assert await asyncio.to_thread(supervise.stop, directory)
        assert supervise.running_pid(directory) is None
        assert (await second.expect("probe_done", probe_id))["error"] == "cancelled"
        log_file = directory / "agent.log"
        assert "rlg_made-up" not in log_file.read_text()
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700

    async def test_is_replaced_when_it_serves_another_server(
        self, control: ControlDouble, settings: AgentSettings, spawned: int
    ) -> None:
        await control.next_line()
        async with control_double() as other:
            moved = settings.model_copy(update={"server_url": other.url})
            pid = await asyncio.to_thread(supervise.spawn_detached, moved)
            await other.next_line()
            assert pid != spawned
            assert supervise.running_pid(settings.state_directory) == pid

    async def test_stop_ends_one_that_does_not_listen(self, settings: AgentSettings, spawned: int) -> None:
        os.kill(spawned, signal.SIGSTOP)
        assert await asyncio.to_thread(supervise.stop, settings.state_directory, patience=0.2)
        assert supervise.running_pid(settings.state_directory) is None

    def test_says_so_when_the_agent_cannot_start(self, tmp_path: Path) -> None:
        settings = AgentSettings(state_directory=tmp_path / "agent")
        with pytest.raises(AgentDidNotStart, match=r"agent\.log"):
            supervise.spawn_detached(settings)
        assert "no token yet" in (settings.state_directory / "agent.log").read_text()
        assert not supervise.stop(settings.state_directory)


class TestProgram:
    async def test_sigterm_ends_it_cleanly(self, control: ControlDouble, settings: AgentSettings) -> None:
        environment = {
            **os.environ,
            "ROUTELOOM_AGENT_SERVER_URL": settings.server_url,
            "ROUTELOOM_AGENT_STATE_DIRECTORY": str(settings.state_directory),
            "ROUTELOOM_AGENT_LOG_JSON": "true",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "node_agent", "run", env=environment, stderr=subprocess.PIPE
        )
        line = await control.next_line()
        probe_id = await line.start_probe("ping", "127.0.0.1", options={"count": 50})
        await line.expect("probe_output", probe_id)
        process.terminate()
        _, errors = await asyncio.wait_for(process.communicate(), 20)
        await line.expect("probe_done", probe_id)
        await wait_until(lambda: line.closed)
        assert process.returncode == 0
        assert b'"event": "agent.stopped"' in errors
        assert line.socket.close_code == 1000

    def test_wrong_settings_are_one_sentence(self, tmp_path: Path) -> None:
        environment = {**os.environ, "ROUTELOOM_AGENT_SERVER_URL": "ftp://x"}
        done = subprocess.run(
            [sys.executable, "-m", "node_agent", "run"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.startswith("ROUTELOOM_AGENT_SERVER_URL: ")
        assert done.stderr.count("\n") == 1
