"""Every PUBLISH is dropped on its way: a heartbeat that is behind brings the doorbell all the same."""

from __future__ import annotations

from typing import Any

import pytest

from shared.cache import Cache, Key
from shared.protocol.frames import DesiredStateUpdated, ServerHello
from tests.integration.control.workers.pair import Pair, until_reachable

OURS = 4242429900


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
