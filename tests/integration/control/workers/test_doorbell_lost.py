"""Every PUBLISH is dropped on its way: a heartbeat that is behind brings the doorbell all the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from control_server.agents import socket
from control_server.agents.service import AgentConnection
from node_agent import state
from node_agent.settings import AgentSettings
from shared.cache import Cache, Key
from shared.protocol.desired_state.document import PublishedState
from shared.protocol.frames import DesiredStateUpdated, Heartbeat, ServerHello
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import running_agent
from tests.integration.control.workers.pair import Pair, until_reachable

OURS = 4242429900
#: Long enough that a busy machine does what follows upon a heartbeat before the next one.
BEAT_SECONDS = 3.0


@pytest.fixture
def without_publish(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words that were to be published."""
    dropped: list[str] = []

    async def drop(_cache: Cache, key: Key, _word: Any) -> int:
        dropped.append(str(key))
        return 0

    monkeypatch.setattr(Cache, "publish", drop)
    assert pair.a.resources.kv.configured
    return dropped


async def publish(pair: Pair, number: int) -> int:
    """A new generation of alpha, written at the worker that has no socket of it."""
    facts = (await pair.a.request("GET", "/api/v1/nodes/alpha/facts", "admin")).json()
    routing = {"asn": OURS, "number": number, "loopback4": "172.20.99.1", "router_id": "172.20.99.1"}
    written = await pair.a.client.patch(
        "/api/v1/nodes/alpha",
        json={"routing": routing},
        headers={**pair.a.authorization("admin"), "If-Match": f'"{facts["version"]}"'},
    )
    assert written.status_code == 200, written.text
    generation: int = (await pair.a.request("GET", "/api/v1/nodes/alpha/facts", "admin")).json()["generation"]
    return generation


async def test_a_heartbeat_that_is_behind_rings(pair: Pair, without_publish: list[str]) -> None:
    async with pair.b.agent() as agent:
        await until_reachable(pair.a, "alpha")
        generation = await publish(pair, 1)
        assert without_publish
        await agent.heartbeat(applied_generation=None)
        rung = await agent.expect(DesiredStateUpdated)
        assert rung.generation == generation


async def test_an_agent_that_is_up_to_date_is_left_alone(pair: Pair, without_publish: list[str]) -> None:
    async with pair.b.agent() as agent:
        await until_reachable(pair.a, "alpha")
        generation = await publish(pair, 1)
        await agent.heartbeat(applied_generation=generation)
        # Frames are acted upon in their order: what comes for the next one comes after this.
        await agent.heartbeat(applied_generation=0)
        await agent.expect(DesiredStateUpdated)
        kinds = [type(frame) for frame in agent.received]
        assert kinds.count(DesiredStateUpdated) == 1
        assert kinds[0] is ServerHello
    assert without_publish


async def test_a_real_agent_has_the_new_generation_within_two_heartbeats(
    pair: Pair, without_publish: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "ServerHello", partial(ServerHello, heartbeat_seconds=BEAT_SECONDS))
    beats: list[Heartbeat] = []

    async def note(_connection: AgentConnection, beat: Heartbeat) -> None:
        beats.append(beat)

    pair.b.runs.link.switchboard.hear(Heartbeat, note)
    settings = agent_of(pair, tmp_path)
    async with running_agent(settings):
        await wait_until(lambda: len(beats) == 1)
        generation = await publish(pair, 1)
        assert without_publish
        heard = len(beats)
        await wait_until(lambda: kept(settings) == generation)
        assert len(beats) - heard <= 2


def agent_of(pair: Pair, directory: Path) -> AgentSettings:
    """The agent of alpha, on a host without BIRD: what it pulls it keeps, and applies nothing."""
    home = directory / "agent"
    state.prepare(home)
    state.write_private(home / "agent-token", pair.b.tokens["alpha"])
    return AgentSettings(
        server_url=pair.b.url,
        state_directory=home,
        bird_socket=directory / "no-bird.ctl",
        bird_directory=directory / "bird",
        bird_local_directory=directory / "local",
    )


def kept(settings: AgentSettings) -> int | None:
    """The generation that the agent has on disk."""
    file = settings.state_directory / "desired-state.json"
    return PublishedState.model_validate_json(file.read_text()).generation if file.exists() else None
