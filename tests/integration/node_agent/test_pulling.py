"""What is published reaches a node whose link never comes up: behind a proxy that knows no WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from node_agent import state
from node_agent.settings import AgentSettings
from shared.protocol.desired_state.document import DesiredState, PublishedState
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import running_agent
from tests.integration.agent.control_double import ControlDouble


def published(generation: int, **node: Any) -> PublishedState:
    identity = {"id": "r1", "number": 1, "asn": 4242429900, "router_id": "172.20.99.1", **node}
    wanted = DesiredState.model_validate({"node": identity, "routing": False})
    return PublishedState(generation=generation, sha256=wanted.digest, state=wanted)


class WithoutSockets(ControlDouble):
    """Refuses every upgrade, and answers the pull as long as `away` is not set."""

    def __init__(self) -> None:
        super().__init__()
        self.answer_with = HTTPStatus.SERVICE_UNAVAILABLE
        self.newest = published(1)
        self.away = False
        self.pulls: list[str] = []

    async def _handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path != "/api/v1/agent/desired-state":
            return await super()._handshake(connection, request)
        self.pulls.append(request.headers.get("If-None-Match", ""))
        if self.away:
            return connection.respond(HTTPStatus.BAD_GATEWAY, "away")
        return connection.respond(HTTPStatus.OK, self.newest.model_dump_json())


@pytest.fixture
async def server() -> AsyncIterator[WithoutSockets]:
    double = WithoutSockets()
    await double.start()
    try:
        yield double
    finally:
        await double.stop()


@pytest.fixture
def settings(server: WithoutSockets, tmp_path: Path) -> AgentSettings:
    directory = tmp_path / "agent"
    state.prepare(directory)
    state.write_private(directory / "agent-token", "rlg_made-up\n")
    return AgentSettings(
        server_url=server.url,
        state_directory=directory,
        bird_socket=tmp_path / "no-bird.ctl",
        bird_directory=tmp_path / "bird",
        bird_local_directory=tmp_path / "local",
        pull_seconds=0.2,
    )


def kept(settings: AgentSettings) -> int | None:
    """The generation that the agent has on disk."""
    file = settings.state_directory / "desired-state.json"
    return PublishedState.model_validate_json(file.read_text()).generation if file.exists() else None


async def test_the_first_question_waits_for_no_link(server: WithoutSockets, settings: AgentSettings) -> None:
    # Longer than anybody waits here: only the first question can bring it.
    patient = settings.model_copy(update={"pull_seconds": 3600.0})
    async with running_agent(patient):
        await wait_until(lambda: kept(settings) == 1)
    assert server.pulls == [""]
    assert not server.lines


async def test_later_generations_follow_without_a_doorbell(
    server: WithoutSockets, settings: AgentSettings
) -> None:
    async with running_agent(settings):
        await wait_until(lambda: kept(settings) == 1)
        server.newest = published(2, region=41)
        await wait_until(lambda: kept(settings) == 2)


async def test_a_controller_that_was_away_is_asked_again(
    server: WithoutSockets, settings: AgentSettings
) -> None:
    server.away = True
    async with running_agent(settings):
        await wait_until(lambda: len(server.pulls) >= 2)
        assert kept(settings) is None
        server.away = False
        await wait_until(lambda: kept(settings) == 1)


async def test_nothing_on_the_host_is_harmed_by_what_is_no_desired_state(
    server: WithoutSockets, settings: AgentSettings
) -> None:
    server.newest = published(3).model_copy(update={"sha256": "0" * 64})
    async with running_agent(settings) as agent:
        await wait_until(lambda: len(server.pulls) >= 2)
        assert kept(settings) is None
        assert not agent.done()
        await asyncio.sleep(0)
