"""Real routers and validators take our ROAs."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn

from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import route
from tests.integration.registry.roas.routers import RPKI, bird, check_configuration, rtrdump, stayrtr
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Content, Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
SHOWN = [
    "172.20.0.0/23-29 AS4242429903",
    "172.20.0.0/24-26 AS4242429901",
    "172.20.0.0/24-26 AS4242429902",
    "172.20.1.0/27-29 AS4242429901",
    "fd42:1::/48-64 AS4242429901",
]
NEW: dict[str | bytes, Content] = {"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)}
STATIC = """
protocol static { roa4 { table roa_v4; };
include "%s";
}
protocol static { roa6 { table roa_v6; };
include "%s";
}
"""


async def files(served: Served, directory: Path) -> tuple[Path, Path]:
    transport = httpx2.ASGITransport(app=served.app)
    paths = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8420") as http:
        for name in ("bird4.conf", "bird6.conf"):
            path = directory / name
            path.write_bytes((await http.get(f"/registry/roa/{name}")).content)
            paths.append(path)
    return paths[0], paths[1]


class TestBird:
    async def test_takes_the_files(self, served: Served, tmp_path: Path) -> None:
        configuration = STATIC % await files(served, tmp_path)
        checked = await check_configuration(tmp_path, configuration)
        assert (checked.status, checked.errors) == (0, "")
        async with bird(tmp_path, configuration) as router:
            await wait_until(lambda: router.shows(SHOWN))

    async def test_follows_changes_by_the_routers_protocol(self, served: Served, tmp_path: Path) -> None:
        async with bird(tmp_path, RPKI % served.rtr) as router:
            await wait_until(lambda: router.shows(SHOWN))
            await served.commit(NEW)
            await wait_until(lambda: router.shows([*SHOWN, "172.20.9.0/24-29 AS4242429904"]))
            await served.commit(dict.fromkeys(NEW))
            await wait_until(lambda: router.shows(SHOWN))

    async def test_survives_our_restart(
        self, registries: Registries, upstream: Upstream, tmp_path: Path
    ) -> None:
        port = {"port": free_loopback_port(), "notify_every": "PT0S"}
        async with serving(registries, upstream, rtr=port):
            pass
        async with bird(tmp_path, RPKI % port["port"]) as router:
            async with serving(registries, upstream, None, rtr=port):
                await wait_until(lambda: router.shows(SHOWN))
            assert await router.shows(SHOWN)
            async with serving(registries, upstream, None, rtr=port) as again:
                await again.commit(NEW)
                await wait_until(lambda: router.shows([*SHOWN, "172.20.9.0/24-29 AS4242429904"]))


@asynccontextmanager
async def over_http(served: Served) -> AsyncIterator[str]:
    """The application on a port, for programs that fetch from it."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(served.app, lifespan="off", log_config=None, ws="none"))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://localhost:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


class TestStayrtr:
    async def test_serves_our_json_with_its_own_defaults(self, served: Served, tmp_path: Path) -> None:
        # Its clock is the real one, by which the made-up times of the sync lie in the future.
        async with over_http(served) as address, stayrtr(f"{address}/registry/roa.json") as port:

            async def has_all() -> bool:
                return len(await rtrdump(port, tmp_path, "-rtr.version", "1")) == len(SHOWN)

            await wait_until(has_all)

    @pytest.mark.parametrize("version", ["0", "1", "2"])
    async def test_its_client_understands_our_port(
        self, served: Served, tmp_path: Path, version: str
    ) -> None:
        found = await rtrdump(served.rtr, tmp_path, "-rtr.version", version)
        shown = sorted(f"{row['prefix']}-{row['maxLength']} {_as(row['asn'])}" for row in found)
        assert shown == SHOWN, json.dumps(found)


def _as(asn: str | int) -> str:
    return f"AS{str(asn).removeprefix('AS')}"
