"""The server of `bench_reads`: control_server with its cache, and the same bytes from bare routes.

    python -m tests.benchmarks.read_servers DIRECTORY CACHE_URL

It says on one line of JSON where both are and who may ask, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx2
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from control_server.app import create_app
from control_server.resources import open_resources
from control_server.settings import ControlSettings
from shared.kernel.clock import utc_now
from shared.web.app import go_away
from shared.web.server import Server, server_config
from shared.web.settings import WebSettings
from tests.integration.control.enrolment.office import open_office
from tests.integration.control.fleet.yard import agent_token, peering, routed, wanted
from tests.integration.control.portal.large_fleet import FIRST, report_everything


@dataclass(frozen=True)
class Document:
    """What is read, and with which token."""

    name: str
    path: str
    bearer: str


async def prepared(directory: Path) -> list[Document]:
    """Fill the database; what there is to be read of it."""
    async with open_office(f"sqlite:///{directory / 'control.db'}", directory) as office:
        office.clock.at = utc_now()
        await report_everything(office)
        node, _ = await routed(office, 1)
        for number in range(8):
            await wanted(office, "POST", "/api/v1/peerings", json=_neighbour(node, number))
        agent = await agent_token(office, node)
    admin = (directory / "admin-token").read_text(encoding="utf-8").strip()
    return [
        Document("health", f"/api/v1/health/nodes/{FIRST}", admin),
        Document("routing", f"/api/v1/nodes/{FIRST}/routing", admin),
        Document("desired state", "/api/v1/agent/desired-state", agent),
    ]


def _neighbour(node: str, number: int) -> dict[str, Any]:
    link = peering(node)["link"] | {"listen_port": 20100 + number, "interface": f"wg-f{number}"}
    return peering(node, f"f{number}", asn=4242429801 + number, link=link)


async def bare(app: Any, documents: list[Document]) -> Starlette:
    """Routes that answer what `app` answers, and do nothing else."""
    transport = httpx2.ASGITransport(app=app)
    routes = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for document in documents:
            headers = {"Authorization": f"Bearer {document.bearer}"}
            answer = await client.get(document.path, headers=headers)
            answer.raise_for_status()
            routes.append(Route(document.path, _always(answer.content)))
    return Starlette(routes=routes)


def _always(content: bytes) -> Any:
    async def answer(_request: Request) -> Response:
        return Response(content, media_type="application/json")

    return answer


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[int]:
    """The port at which it is served."""

    async def farewell() -> None:
        if not isinstance(app, Starlette) or hasattr(app.state, "agent_link"):
            await go_away(app)

    server = Server(server_config(app, WebSettings(public_url="http://localhost", port=0)), farewell=farewell)
    serving = asyncio.create_task(server.serve())
    await server.ready.wait()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.stop()
        await serving


async def serve(directory: Path, cache_url: str) -> None:
    documents = await prepared(directory)
    settings = ControlSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{directory / 'control.db'}"},
            "state_directory": directory,
            "cache": {"url": cache_url},
            "api_tokens": {"requests_per_minute": 1_000_000},
        }
    )
    async with AsyncExitStack() as stack:
        resources = await stack.enter_async_context(open_resources(settings))
        app = create_app(settings, resources)
        ours = await stack.enter_async_context(served(app))
        floor = await stack.enter_async_context(served(await bare(app, documents)))
        told = {"ours": ours, "bare": floor, "documents": [asdict(each) for each in documents]}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
