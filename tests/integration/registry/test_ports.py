"""The ports of whois and of routers right after a start, and what health says of them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit

import pytest
from fastapi import FastAPI

from registry_server.app import create_app
from registry_server.samples.schemas import Manifest
from shared.testing.fault_proxy import fault_proxy
from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire
from tests.integration.registry.conftest import Registries, client_of
from tests.integration.registry.serving import serving
from tests.integration.registry.upstream import Upstream

RESET_QUERY = bytes.fromhex("0102000000000008")
CACHE_RESPONSE = 3


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


async def connected(port: int) -> Wire:
    """As soon as the port is there at all."""
    async with asyncio.timeout(20):
        while True:
            try:
                return await Wire.to(port)
            except ConnectionRefusedError:
                await asyncio.sleep(0)


@asynccontextmanager
async def started(app: FastAPI) -> AsyncIterator[None]:
    async with app.router.lifespan_context(app):
        yield


async def test_the_first_question_after_a_restart_is_answered_from_the_last_state(
    registries: Registries, sample: tuple[Upstream, Manifest]
) -> None:
    settings = registries.settings(sample[0], interval="PT24H")
    ports = {name: {"port": free_port(), "hosts": ["127.0.0.1"]} for name in ("whois", "rtr")}
    settings = type(settings).model_validate({**settings.model_dump(), **ports})
    registry = await registries.open_with(settings)
    await registry.sync()
    async with started(create_app(settings, registry.resources)):
        whois, routers = await asyncio.gather(*(connected(int(str(port["port"]))) for port in ports.values()))
        async with whois, routers:
            whois.send(b"!!\n!j-*\n")
            routers.send(RESET_QUERY)
            assert (await whois.read(1), (await routers.read(8))[1]) == (b"A", CACHE_RESPONSE)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_database_that_hangs_at_the_start_keeps_nobody_waiting_for_ever(
    registries: Registries, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry_server.snapshot.service._SOON", timedelta(milliseconds=500))
    settings = registries.settings(upstream, interval="PT24H")
    asked = urlsplit(registries.url)
    async with fault_proxy(asked.port or 0) as proxy:
        proxy.pause()
        host = f"{asked.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}".removeprefix("@")
        port = free_port()
        changes = {
            "database": {"url": urlunsplit(asked._replace(netloc=host))},
            "whois": {"port": port, "hosts": ["127.0.0.1"]},
        }
        settings = type(settings).model_validate({**settings.model_dump(), **changes})
        registry = await registries.open_with(settings)
        async with (
            started(create_app(settings, registry.resources)),
            await connected(port) as whois,
        ):
            whois.send(b"!gAS4242429901\n")
            assert await whois.rest() == b""
            proxy.resume()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestHealth:
    async def test_names_the_ports_that_answer(self, registries: Registries, upstream: Upstream) -> None:
        async with serving(registries, upstream) as served:
            watches = served.app.state.port_watches
            for _ in range(2):
                for watch in watches:
                    await watch.look()
            assert [watch.report().facts for watch in watches] == [
                {"port": served.whois},
                {"port": served.rtr},
            ]

    async def test_a_registry_without_data_answers_too(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream, None) as served:
            for _ in range(2):
                for watch in served.app.state.port_watches:
                    await watch.look()
                    assert watch.report().answers

    async def test_is_not_well_where_a_port_is_held_by_another(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            held = {"port": other.getsockname()[1], "hosts": ["127.0.0.1"]}
            settings = registries.settings(upstream, interval="PT24H")
            settings = type(settings).model_validate({**settings.model_dump(), "whois": held})
            registry = await registries.open_with(settings)
            app = create_app(settings, registry.resources)
            async with client_of(app) as client:
                assert "rtr" not in (await client.get("/registry/healthz")).json()["ports"]
                (watch,) = app.state.port_watches
                for _ in range(2):
                    await watch.look()
                answer = await client.get("/registry/healthz")
                said = answer.json()
                assert (answer.status_code, said["status"]) == (503, "unavailable")
                found = {"status": "unreachable", "port": None, "reason": "nothing listens"}
                assert said["ports"] == {"whois": found}
                assert (await client.get("/registry/readyz")).status_code == 200
                other.close()
                await wait_until(lambda: app.state.ports["whois"].port is not None)
                await watch.look()
                assert (await client.get("/registry/healthz")).json()["ports"]["whois"]["status"] == "ok"
