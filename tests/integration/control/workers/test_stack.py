"""Full: two workers of control, auth and the registry behind the shipped proxy; one worker is killed."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest

from auth_server.commands import make_invitation
from auth_server.resources import open_resources as open_auth
from auth_server.settings import AuthSettings
from shared.kernel.principal import Role
from shared.protocol.frames import ProbeStart
from shared.testing.authenticator import Authenticator
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers import KeyValueServer, PostgresServer
from shared.testing.servers.key_value import CONFIGURATIONS
from shared.testing.servers.ports import free_loopback_port
from shared.testing.servers.process import find_program
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import PLAIN, Prepared, Reader
from tests.integration.control.workers.pair import numbers, stored
from tests.integration.control.workers.processes import Service, ending
from tests.integration.control.workers.visitor import HTML, Visitor

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]


@dataclass
class Stack:
    """What the test speaks to."""

    a: Service
    b: Service
    proxy: str
    client: httpx.AsyncClient
    tokens: dict[str, str]
    #: Of the sign-in service, to invite somebody.
    settings: AuthSettings

    def authorization(self, who: str = "operator") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    @asynccontextmanager
    async def reader(self, at: str, probe_id: str, last: str | None = None) -> AsyncIterator[Reader]:
        headers = self.authorization() | ({"Last-Event-ID": last} if last else {})
        path = f"{at}/api/v1/probes/{probe_id}/stream"
        async with self.client.stream("GET", path, headers=headers) as response:
            assert response.status_code == 200
            yield Reader(response)


@pytest.fixture
async def stack(
    on_postgres: Prepared, postgres: PostgresServer, kv: KeyValueServer, cache: KeyValueServer, tmp_path: Path
) -> AsyncIterator[Stack]:
    port = free_loopback_port()
    proxy = f"http://localhost:{port}"
    environment = common(proxy, kv, cache, tmp_path)
    environment["ROUTELOOM_CONTROL_DATABASE__URL"] = on_postgres.url
    with postgres.database() as auth_url, postgres.database() as registry_url:
        environment["ROUTELOOM_AUTH_DATABASE__URL"] = auth_url
        environment["ROUTELOOM_REGISTRY_DATABASE__URL"] = registry_url
        await asyncio.gather(
            *(migrated(package, environment) for package in ("auth_server", "registry_server"))
        )
        names = ("control_server", "control_server", "auth_server", "registry_server")
        services = [Service(name, environment, tmp_path / f"{n}.log") for n, name in enumerate(names)]
        a, b, auth, registry = services
        environment["ROUTELOOM_AUTH_URL"] = auth.url
        environment["ROUTELOOM_REGISTRY_URL"] = registry.url
        with ending(*services):
            await asyncio.gather(
                a.start(), b.start(), auth.start("/auth/livez"), registry.start("/registry/livez")
            )
            async with (
                behind_proxy(port, services, tmp_path),
                httpx.AsyncClient(timeout=30, verify=PLAIN) as client,
            ):
                await wait_until(lambda: ready(client, proxy), seconds=30)
                yield Stack(a, b, proxy, client, on_postgres.tokens, auth_settings(auth_url, proxy, tmp_path))
            for service in services:
                service.end()
                assert service.process is not None
                assert service.process.returncode in {0, -9}, service.tail()


def common(proxy: str, kv: KeyValueServer, cache: KeyValueServer, directory: Path) -> dict[str, str]:
    settings = {}
    for service in ("CONTROL", "AUTH", "REGISTRY"):
        home = directory / service.lower()
        home.mkdir()
        settings[f"ROUTELOOM_{service}_STATE_DIRECTORY"] = str(home)
        settings[f"ROUTELOOM_{service}_WEB__PUBLIC_URL"] = proxy
        settings[f"ROUTELOOM_{service}_CACHE__URL"] = cache.url
        if service != "REGISTRY":
            settings[f"ROUTELOOM_{service}_KV__URL"] = kv.url
    # The sign-in service makes it; its home is a volume that both see.
    settings["ROUTELOOM_CONTROL_SIGN_IN__CLIENT_SECRET_FILE"] = str(directory / "auth/secrets/portal-client")
    return settings


def auth_settings(url: str, proxy: str, directory: Path) -> AuthSettings:
    return AuthSettings.model_validate(
        {
            "database": {"url": url},
            "state_directory": directory / "auth",
            "web": {"public_url": proxy},
        }
    )


async def migrated(package: str, environment: dict[str, str]) -> None:
    for verb in ("migrate", "seed") if package == "auth_server" else ("migrate",):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", package, verb), env=os.environ | environment
        )
        assert await process.wait() == 0


@asynccontextmanager
async def behind_proxy(port: int, services: list[Service], directory: Path) -> AsyncIterator[None]:
    a, b, auth, registry = (f"127.0.0.1:{service.port}" for service in services)
    settings = {
        "ROUTELOOM_SITE": f"http://localhost:{port}",
        "ROUTELOOM_CONTROL_UPSTREAMS": f"{a} {b}",
        "ROUTELOOM_AUTH_UPSTREAMS": auth,
        "ROUTELOOM_REGISTRY_UPSTREAMS": registry,
        "XDG_DATA_HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory),
    }
    command = [find_program("caddy", "caddy"), "run", "--adapter", "caddyfile"]
    with (directory / "proxy.log").open("wb") as log:
        proxy = subprocess.Popen(
            [*command, "--config", str(CONFIGURATIONS / "Caddyfile")],
            env=os.environ | settings,
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            proxy.terminate()
            proxy.wait(20)


async def ready(client: httpx.AsyncClient, proxy: str) -> bool:
    try:
        paths = ("/readyz", "/auth/readyz", "/registry/readyz")
        return all([(await client.get(f"{proxy}{path}")).status_code == 200 for path in paths])
    except httpx.TransportError:
        return False


async def test_a_killed_worker_costs_readers_nothing(stack: Stack) -> None:
    await the_proxy_publishes_what_it_should(stack)
    await a_declined_sign_in_is_known_at_the_other_worker(stack)
    ada = await a_passkey_signs_in_across_workers(stack)
    async with FakeAgent(stack.b.url, stack.tokens["alpha"]) as agent:
        await agent.hello()
        wanted = {"nodes": ["alpha"], "tool": "ping", "target": "192.0.2.1"}
        created = await stack.client.post(
            f"{stack.a.url}/api/v1/probes", json=wanted, headers=stack.authorization()
        )
        probe_id = created.json()["id"]
        await agent.accept((await agent.expect(ProbeStart)).probe_id)
        async with stack.reader(stack.b.url, probe_id) as at_b:
            async with stack.reader(stack.a.url, probe_id) as at_a:
                ident = agent.all(ProbeStart)[0].probe_id
                await agent.output(ident, *(f"line {n}" for n in range(1, 11)))
                await stored(agent, 10)
                seen = await at_a.outputs(7)
                stack.a.kill()
                await agent.output(ident, *(f"line {n}" for n in range(11, 21)))
                await stored(agent, 20)
            async with stack.reader(stack.proxy, probe_id, seen[-1].id) as resumed:
                await agent.done(ident)
                rest = await resumed.rest()
            everything = await at_b.rest()
    assert numbers([*seen, *rest]) == list(range(1, 21))
    assert rest[-1].name == "done"
    assert numbers(everything) == list(range(1, 21))
    read = (
        await stack.client.get(f"{stack.proxy}/api/v1/probes/{probe_id}", headers=stack.authorization())
    ).json()
    assert (read["state"], read["complete"], len(read["lines"])) == ("done", True, 20)
    # And the session that began at the killed one is good at the other, and through the proxy.
    for place in (stack.b.url, stack.proxy):
        assert (await ada.send("GET", f"{place}/api/v1/nodes")).status_code == 200


async def the_proxy_publishes_what_it_should(stack: Stack) -> None:
    statuses = {
        path: (await stack.client.get(f"{stack.proxy}{path}", headers=stack.authorization())).status_code
        for path in (
            *("/api/v1/nodes", "/auth/jwks.json", "/registry/api/v1/status"),
            *("/metrics", "/auth/metrics", "/healthz", "/metrics/runtime-state"),
        )
    }
    assert list(statuses.values()) == [200] * 3 + [404] * 4, statuses


async def a_passkey_signs_in_across_workers(stack: Stack) -> Visitor:
    """Begun at A, proved with a passkey at the sign-in service, finished at B, once; good at both."""
    ada = Visitor(stack.client, stack.proxy, Authenticator(stack.proxy))
    async with open_auth(stack.settings) as auth:
        await ada.accept(await make_invitation(auth, Role.OPERATOR), "ada")
    callback = await ada.callback_of(stack.a.url)
    finished = await ada.send("GET", f"{stack.b.url}{callback}", headers=HTML)
    assert (finished.status_code, finished.headers["location"]) == (303, "/nodes")
    for place in (stack.b.url, stack.a.url):
        assert (await ada.send("GET", f"{place}/api/v1/nodes")).status_code == 200
        page = await ada.send("GET", f"{place}/nodes", headers=HTML)
        assert ">ada<" in page.text
    spent = await ada.send("GET", f"{stack.a.url}{callback}", headers=HTML)
    assert spent.status_code == 410
    return ada


async def a_declined_sign_in_is_known_at_the_other_worker(stack: Stack) -> None:
    """It begins at A and comes back to B, which knows it once."""
    page = await stack.client.get(f"{stack.a.url}/sign-in", headers={"Accept": "text/html"})
    cookies = cookies_of(page)
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token is not None
    headers = {"Accept": "text/html", "Cookie": cookies, "Origin": stack.proxy}
    begun = await stack.client.post(
        f"{stack.a.url}/sign-in", data={"csrf_token": token[1], "next": "/"}, headers=headers
    )
    assert begun.status_code == 303, begun.text
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    headers["Cookie"] = "; ".join((cookies, cookies_of(begun)))
    back = (
        f"{stack.b.url}/sign-in/callback?error=access_denied&state={query['state'][0]}&iss={stack.proxy}/auth"
    )
    pages = [(await stack.client.get(back, headers=headers)).text for _ in range(2)]
    assert "You chose not to sign in" in pages[0]
    assert "was used before" in pages[1]


def cookies_of(answer: httpx.Response) -> str:
    return "; ".join(cookie.split(";")[0] for cookie in answer.headers.get_list("set-cookie"))
