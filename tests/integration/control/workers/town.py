"""The three services on ports of their own, over one world that was made through their APIs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
from fastapi import FastAPI

from auth_server.accounts.models import Account
from auth_server.app import create_app as create_auth
from auth_server.command_ground import make_invitation
from auth_server.command_ground import seed as seed_auth
from auth_server.resources import AuthResources
from auth_server.resources import open_resources as open_auth
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import token_services
from control_server.app import create_app as create_control
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from control_server.settings import ControlSettings
from control_server.ways_in import ensure_admin_token
from registry_server.app import create_app as create_registry
from registry_server.mirror.schemas import SyncTrigger
from registry_server.resources import open_resources as open_registry
from registry_server.settings import RegistrySettings
from shared.cache import TierSettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Role
from shared.protocol.frames import ProbeStart
from shared.testing.fake_agent import FakeAgent
from shared.testing.waiting import wait_until
from shared.web.app import go_away
from shared.web.server import Server, server_config
from shared.web.settings import WebSettings
from tests.integration.control.enrolment.office import HandClock, Machine, Office
from tests.integration.control.fleet.yard import peering, routed, wanted
from tests.integration.control.probes.stage import PLAIN
from tests.integration.registry.upstream import Upstream
from tests.integration.registry.world import WORLD

SERVICES = ("control", "auth", "registry")
CSRF = "t" * 43
_MANY = 1_000_000


@dataclass
class World:
    """What is in the databases, whichever servers are started over them."""

    directory: Path
    clock: HandClock = field(default_factory=HandClock)
    #: Headers by who asks.
    callers: dict[str, dict[str, str]] = field(default_factory=dict)
    #: What stands in the place of a parameter of a path, by service and name.
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def settings(self, name: str, **more: Any) -> dict[str, Any]:
        return {
            "database": {"url": f"sqlite:///{self.directory / f'{name}.db'}"},
            "state_directory": self.directory / name,
            "web": {"port": 0},
            **more,
        }


@dataclass(frozen=True)
class Town:
    """Running services, and clients of them."""

    apps: dict[str, FastAPI]
    clients: dict[str, httpx.AsyncClient]
    control: ControlResources
    auth: AuthResources


@asynccontextmanager
async def town(world: World, cache_url: str | None = None) -> AsyncIterator[Town]:
    """The services with this cache tier, or with none."""
    tier = {"cache": TierSettings.model_validate({"url": cache_url} if cache_url else {})}
    apps: dict[str, FastAPI] = {}
    clients: dict[str, httpx.AsyncClient] = {}
    async with AsyncExitStack() as stack:

        async def serve(name: str, app: FastAPI) -> None:
            apps[name], clients[name] = app, await stack.enter_async_context(_served(app))

        await serve("registry", await _registry(world, tier, stack))
        found = {"registry_url": str(clients["registry"].base_url), **tier}
        auths = AuthSettings.model_validate(world.settings("auth")).model_copy(update=found)
        auth = await stack.enter_async_context(open_auth(auths, world.clock))
        await serve("auth", create_auth(auths, auth))
        limits = {"requests_per_minute": _MANY, "failures_per_minute": _MANY}
        # Sixty rounds of everything are more failed sign-ins than anybody makes.
        sign_in = {"failures_per_address": _MANY, "refusals_per_address": _MANY}
        controls = ControlSettings.model_validate(
            world.settings("control", api_tokens=limits, sign_in=sign_in)
        )
        controls = controls.model_copy(update=found)
        control = await stack.enter_async_context(open_control(controls, world.clock))
        await ensure_admin_token(control)
        await serve("control", create_control(controls, control))
        yield Town(apps, clients, control, auth)


async def _registry(world: World, tier: dict[str, TierSettings], stack: AsyncExitStack) -> FastAPI:
    mirror = {"url": str(world.directory / "upstream.git"), "interval": "PT24H"}
    ports = {name: {"port": 0} for name in ("whois", "rtr")}
    settings = RegistrySettings.model_validate(world.settings("registry", mirror=mirror, **ports))
    settings = settings.model_copy(update=tier)
    resources = await stack.enter_async_context(open_registry(settings, world.clock))
    return create_registry(settings, resources)


@asynccontextmanager
async def _served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    server = Server(server_config(app, WebSettings(port=0)), farewell=lambda: go_away(app))
    running = asyncio.create_task(server.serve())
    try:
        await wait_until(lambda: server.started or running.done())
        if running.done():
            running.result()
        port = server.servers[0].sockets[0].getsockname()[1]
        base = f"http://localhost:{port}"
        async with httpx.AsyncClient(base_url=base, timeout=30, verify=PLAIN) as client:
            yield client
    finally:
        server.should_exit = True
        with contextlib.suppress(SystemExit):
            await running


async def build(world: World) -> None:
    """Migrate the databases and let people, nodes and the registry do a little of everything."""
    for name in SERVICES:
        (world.directory / name).mkdir()
        database = open_database(DatabaseSettings.model_validate(world.settings(name)["database"]))
        await upgrade(database, f"{name}_server")
        await database.close()
    Upstream.create(world.directory / "upstream.git").commit(WORLD)
    await seed_auth(AuthSettings.model_validate(world.settings("auth")))
    async with town(world) as opened:
        await opened.apps["registry"].state.mirror.sync(SyncTrigger.REQUEST, force=True)
        await _people(world, opened)
        await _fleet(world, opened)


async def _people(world: World, opened: Town) -> None:
    account = Account(
        id=new_uuid(),
        name="admin",
        display_name="Admin",
        role=Role.ADMIN,
        created_at=world.clock(),
        disabled_at=None,
    )
    async with opened.auth.database.transaction() as session:
        session.add(account)
    async with opened.auth.database.transaction() as session:
        sessions = token_services(opened.apps["auth"].state.tokens, session).sessions
        cookie = await sessions.begin(account, PASSKEY, Browser("", ""))
    await make_invitation(opened.auth, Role.OPERATOR)
    cookies = f"__Host-rl_csrf={CSRF}; __Host-rl_auth={cookie}"
    world.callers["auth"] = {"Cookie": cookies, "X-CSRF-Token": CSRF}
    world.callers["registry"] = {}
    world.names["auth", "account_id"] = str(account.id)


async def _fleet(world: World, opened: Town) -> None:
    admin, outside = (
        opened.clients["control"],
        httpx.AsyncClient(base_url=opened.clients["control"].base_url, verify=PLAIN),
    )
    token = (world.directory / "control" / "admin-token").read_text()
    world.callers["control"] = {"Authorization": f"Bearer {token}"}
    admin.headers.update(world.callers["control"])
    async with outside:
        office = Office(opened.control, opened.apps["control"], admin, outside, world.clock)
        await routed(office, 1)
        await routed(office, 2, asn=4242429901)
        link = await wanted(office, "POST", "/api/v1/links", json={"node_a": "r1", "node_b": "r2"})
        session = await wanted(office, "POST", "/api/v1/peerings", json=peering("r1"))
        pool = {"name": "numbers", "kind": "node_number", "range": "10-99"}
        await wanted(office, "POST", "/api/v1/pools", json=pool)
        enrolled = await office.enrol(Machine(), await office.token(node_id="fra1"))
        secret = enrolled.json()["agent_token"]
        world.callers["agent"] = {"Authorization": f"Bearer {secret}"}
        probe = await _probe(office, secret)
    world.names |= {
        ("control", "node_id"): "r1",
        ("control", "number"): "1",
        ("control", "probe_id"): probe,
        ("control", "name"): "numbers",
        ("control", "links/{ident}"): link["id"],
        ("control", "peerings/{ident}"): session["id"],
    }


async def _probe(office: Office, token: str) -> str:
    async with FakeAgent(str(office.admin.base_url), token) as agent:
        await agent.hello()
        body = {"nodes": ["fra1"], "tool": "ping", "target": "192.0.2.1"}
        made = await wanted(office, "POST", "/api/v1/probes", json=body)
        start = await agent.expect(ProbeStart)
        await agent.play(start.probe_id, ["one", "two"])

        async def ended() -> bool:
            return (await wanted(office, "GET", f"/api/v1/probes/{made['id']}"))["finished_at"] is not None

        await wait_until(ended)
    return str(made["id"])
