"""C10: a BIRD that hangs holds up nothing but what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from node_agent import state
from node_agent.settings import AgentSettings
from shared.testing.waiting import wait_until
from tests.integration.agent.conftest import running_agent
from tests.integration.agent.control_double import ControlDouble
from tests.integration.node_agent.test_pulling import published


class WithState(ControlDouble):
    """Has one generation for whoever asks."""

    async def _handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/api/v1/agent/desired-state":
            return connection.respond(HTTPStatus.OK, published(1).model_dump_json())
        return await super()._handshake(connection, request)


@asynccontextmanager
async def hanging_bird(socket: Path) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Takes connections and says nothing, not even a greeting."""
    taken: list[asyncio.StreamReader] = []
    writers = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(reader)
        writers.append(writer)
        await reader.read()

    async with await asyncio.start_unix_server(accept, socket):
        try:
            yield taken
        finally:
            for writer in writers:
                writer.close()


async def test_heartbeats_go_on_while_bird_says_nothing(tmp_path: Path) -> None:
    server = WithState()
    server.heartbeat_seconds = 0.05
    await server.start()
    directory, socket = tmp_path / "agent", tmp_path / "bird.ctl"
    state.prepare(directory)
    state.write_private(directory / "agent-token", "rlg_made-up\n")
    settings = AgentSettings(
        server_url=server.url,
        state_directory=directory,
        bird_socket=socket,
        bird_directory=tmp_path / "bird",
        bird_local_directory=tmp_path / "local",
    )
    try:
        async with hanging_bird(socket) as taken, running_agent(settings):
            line = await server.next_line()
            await wait_until(lambda: bool(taken))
            before = [frame["type"] for frame in line.frames].count("heartbeat")
            await line.expect("heartbeat", count=before + 20)
            assert not any(frame["type"] == "apply_result" for frame in line.frames)
            told = await line.expect("apply_result")
            assert [error["code"] for error in told["errors"]] == ["bird_took_too_long"]
    finally:
        await server.stop()
