"""Two workers of control_server, each with everything of its own but the database and the tiers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from control_server.settings import ControlSettings
from shared.cache import TierSettings
from shared.protocol.frames import ProbeStart, ProbeStored
from shared.testing.fake_agent import FakeAgent
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import (
    HandClock,
    Prepared,
    SeenEvent,
    Stage,
    serving,
    settings_of,
)


def on_tiers(
    prepared: Prepared, directory: Path, kv_url: str, cache_url: str, **probes: Any
) -> ControlSettings:
    # Longer than in service: the machine that runs the tests is busy with other things.
    tiers = {
        name: TierSettings.model_validate({"url": url, "deadline": timedelta(seconds=1)})
        for name, url in (("kv", kv_url), ("cache", cache_url))
    }
    return settings_of(prepared, directory, **probes).model_copy(update=tiers)


@dataclass(frozen=True)
class Pair:
    """Worker A takes requests, worker B has the agents, unless a test says otherwise."""

    a: Stage
    b: Stage

    async def running(self, agent: FakeAgent, *nodes: str) -> UUID:
        """A probe that was asked for at A and runs on an agent at B."""
        probe_id = await self.a.create(*(nodes or ("alpha",)))
        await self.begun(agent)
        return probe_id

    async def begun(self, agent: FakeAgent) -> None:
        start = await agent.expect(ProbeStart)
        await agent.accept(start.probe_id)


@asynccontextmanager
async def two_workers(settings: ControlSettings, clock: HandClock, prepared: Prepared) -> AsyncIterator[Pair]:
    async with serving(settings, clock, prepared) as a, serving(settings, clock, prepared) as b:
        yield Pair(a, b)


def texts(events: list[SeenEvent]) -> list[str]:
    return [event.data["text"] for event in events if event.name == "output"]


def numbers(events: list[SeenEvent]) -> list[int]:
    return [event.data["seq"] for event in events if event.name == "output"]


async def stored(agent: FakeAgent, seq: int) -> None:
    await agent.expect(ProbeStored, lambda frame: frame.seq >= seq)


async def reachable(stage: Stage, node: str) -> bool:
    return node in (await stage.runs.link.reach([node])).nodes


async def until_reachable(stage: Stage, node: str) -> None:
    await wait_until(lambda: reachable(stage, node))
