"""The servers of `bench_heartbeats`: ours with its agents' link, and a socket that only takes what comes.

    python -m tests.benchmarks.heartbeat_servers control|sink DIRECTORY AGENTS

Each says on one line of JSON where it is and with which tokens, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from control_server.app import create_app
from control_server.resources import open_resources
from control_server.settings import ControlSettings
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.testing.fake_agent import SOCKET_PATH
from shared.web.app import go_away
from shared.web.server import Server, server_config
from shared.web.settings import WebSettings
from tests.benchmarks.agents_by_hand import END
from tests.integration.control.probes.stage import seed


async def sink(websocket: WebSocket) -> None:
    """Take every message; answer the greeting and the last one, as ours does."""
    await websocket.accept()
    try:
        await websocket.receive_text()
        await websocket.send_text('{"type": "hello"}')
        while True:
            if await websocket.receive_text() == END:
                await websocket.send_text("end")
    except WebSocketDisconnect:
        return


async def open_control(stack: AsyncExitStack, directory: Path, agents: int) -> tuple[Any, dict[str, str]]:
    settings = ControlSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{directory / 'control.db'}"},
            "state_directory": directory,
            "kv": {"url": None},
        }
    )
    resources = await stack.enter_async_context(open_resources(settings))
    await upgrade(resources.database, "control_server")
    nodes = [f"node{number}" for number in range(agents)]
    tokens = await seed(resources.database, utc_now(), nodes)
    return create_app(settings, resources), {name: tokens[name] for name in nodes}


async def serve(kind: str, directory: Path, agents: int) -> None:
    async with AsyncExitStack() as stack:
        if kind == "control":
            app, tokens = await open_control(stack, directory, agents)
        else:
            app = Starlette(routes=[WebSocketRoute(SOCKET_PATH, sink)])
            tokens = {f"node{number}": "none" for number in range(agents)}

        async def farewell() -> None:
            if kind == "control":
                await go_away(app)

        web = WebSettings(public_url="http://localhost", port=0)
        server = Server(server_config(app, web), farewell=farewell)
        serving = asyncio.create_task(server.serve())
        await server.ready.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(json.dumps({"port": port, "tokens": tokens}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        server.stop()
        await serving


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
