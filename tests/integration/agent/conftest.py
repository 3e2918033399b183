from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from node_agent import state
from node_agent.collect.collection import Collection
from node_agent.connection.link import Dialling
from node_agent.probes.resolving import Chooser
from node_agent.probes.running import Surroundings
from node_agent.run import run
from node_agent.settings import AgentSettings
from tests.integration.agent.control_double import ControlDouble, control_double

#: Comes back at once; the shape of the pauses is tested where it is decided.
AT_ONCE = Dialling(uniform=lambda low, _high: 0.0 if low < 30 else low, watch_seconds=0.02)

RunAgent = Callable[..., AbstractAsyncContextManager[asyncio.Task[None]]]


@pytest.fixture
async def control() -> AsyncIterator[ControlDouble]:
    async with control_double() as double:
        yield double


@pytest.fixture
def settings(control: ControlDouble, tmp_path: Path) -> AgentSettings:
    directory = tmp_path / "agent"
    state.prepare(directory)
    state.write_private(directory / "agent-token", "rlg_made-up\n")
    return AgentSettings(server_url=control.url, state_directory=directory)


@asynccontextmanager
async def running_agent(
    settings: AgentSettings,
    *,
    surroundings: Surroundings | None = None,
    collection: Collection | None = None,
    dialling: Dialling = AT_ONCE,
) -> AsyncIterator[asyncio.Task[None]]:
    options: dict[str, Any] = {"surroundings": surroundings, "collection": collection, "dialling": dialling}
    task = asyncio.create_task(run(settings, **options))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def run_agent() -> RunAgent:
    return running_agent


class Toolbox:
    """Executables of the test's own that stand where the agent looks for ping."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir()

    def install(self, script: str, tool: str = "ping") -> None:
        path = self.directory / tool
        path.write_text(f'#!/bin/sh\ncase "$*" in -V|--version) echo made up; exit;; esac\n{script}\n')
        path.chmod(0o755)

    def surroundings(self, **fields: Any) -> Surroundings:
        values: dict[str, Any] = {
            "chooser": Chooser(),
            "own_addresses": frozenset,
            "tool_directories": (str(self.directory),),
        }
        return Surroundings(**{**values, **fields})


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return Toolbox(tmp_path / "tools")
