"""The three services in process, and everybody with a credential of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
from fastapi import FastAPI

from auth_server.accounts.models import Account
from auth_server.app import create_app as create_auth
from auth_server.commands import seed as seed_auth
from auth_server.resources import AuthResources
from auth_server.resources import open_resources as open_auth
from auth_server.sessions.schemas import Browser as AuthBrowser
from auth_server.sessions.service import PASSKEY
from auth_server.settings import AuthSettings
from auth_server.tokens.dependencies import token_services
from control_server.access import ControlAuthenticator
from control_server.agents.models import Agent, AgentToken
from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import ApiTokenService
from control_server.app import create_app as create_control
from control_server.audit.dependencies import audit_service
from control_server.nodes.models import Node
from control_server.operators.dependencies import operators_of
from control_server.operators.schemas import Browser, Identity
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from control_server.settings import ControlSettings
from registry_server.app import create_app as create_registry
from registry_server.settings import RegistrySettings
from shared.database import open_database
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from shared.kernel.secrets import mint
from tests.integration.matrix.callers import Caller

ORIGIN = "http://localhost:8420"
CSRF = "t" * 43
_MANY = 1_000_000


@dataclass
class Doors:
    """The applications and what opens them."""

    apps: dict[str, FastAPI]
    control: ControlResources
    auth: AuthResources
    http: dict[str, httpx2.AsyncClient]
    accounts: dict[Role, Account]
    tokens: dict[str, str]
    #: Cookies of browsers that only looked so far.
    cookies: dict[tuple[str, Role], str] = field(default_factory=dict)

    async def knock(self, service: str, caller: Caller, method: str, path: str) -> int:
        """The status. A browser that wrote is not used again: some doors end its session."""
        headers = {"Accept": "application/json", **await self._credentials(service, caller)}
        answer = await self.http[service].request(method, path, headers=headers)
        if method != "GET" and caller.role is not None:
            self.cookies.pop((_keeper(service), caller.role), None)
        return answer.status_code

    async def page(self, caller: Caller, path: str) -> str:
        headers = {"Accept": "text/html", **await self._credentials("control", caller)}
        answer = await self.http["control"].get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def _credentials(self, service: str, caller: Caller) -> dict[str, str]:
        if caller.is_agent or caller.scope is not None:
            return {"Authorization": f"Bearer {self.tokens[caller.name]}"}
        cookies = {"__Host-rl_csrf": CSRF}
        if caller.role is not None:
            keeper = _keeper(service)
            known = self.cookies.get((keeper, caller.role)) or await self._begin(keeper, caller.role)
            cookies[f"__Host-rl_{keeper}"] = self.cookies[keeper, caller.role] = known
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return {"Cookie": sent, "X-CSRF-Token": CSRF}

    async def _begin(self, keeper: str, role: Role) -> str:
        begin = self._known_at_auth if keeper == "auth" else self._known_at_control
        return await begin(role)

    async def _known_at_control(self, role: Role) -> str:
        identity = Identity(f"s-{role}", role, role, utc_now(), None, None, "")
        async with operators_of(self.control)() as operators:
            return operators.begin_for(identity, Browser("", ""))

    async def _known_at_auth(self, role: Role) -> str:
        async with self.auth.database.transaction() as session:
            sessions = token_services(self.apps["auth"].state.tokens, session).sessions
            return await sessions.begin(self.accounts[role], PASSKEY, AuthBrowser("", ""))


def _keeper(service: str) -> str:
    """Whose sessions count there."""
    return "auth" if service == "auth" else "control"


async def _fill_control(resources: ControlResources) -> dict[str, str]:
    """Tokens by the names of their callers."""
    tokens, at = {}, utc_now()
    admin = Principal.of_role("person:tokens", PrincipalKind.PERSON, "tokens", Role.ADMIN)
    async with resources.database.transaction() as session:
        service = ApiTokenService(ApiTokenRepository(session), resources.now)
        audit = audit_service(session, resources.now)
        for scope in Scope:
            narrow = replace(admin, scopes=frozenset({scope}))
            tokens[f"token {scope}"] = await service.replace(narrow, f"only {scope}", audit)
        secret = mint("rlg")
        tokens["agent"] = secret.text
        session.add(Node(id="alpha", allow_targets=[], deny_targets=[], created_at=at, updated_at=at))
        await session.flush()
        session.add(Agent(node_id="alpha", public_key="key", capabilities={}, enrolled_at=at))
        session.add(
            AgentToken(id=secret.id, node_id="alpha", digest=secret.digest, created_at=at, revoked_at=None)
        )
    return tokens


async def _fill_auth(resources: AuthResources) -> dict[Role, Account]:
    accounts = {
        role: Account(
            id=new_uuid(), name=role, display_name=role, role=role, created_at=utc_now(), disabled_at=None
        )
        for role in Role
    }
    async with resources.database.transaction() as session:
        session.add_all(accounts.values())
    return accounts


async def _migrate(url: str, package: str) -> dict[str, str]:
    settings = {"url": url}
    database = open_database(
        AuthSettings.model_validate({"database": settings, "state_directory": "/"}).database
    )
    await upgrade(database, package)
    await database.close()
    return settings


@asynccontextmanager
async def open_doors(directory: Path) -> AsyncIterator[Doors]:
    common = {
        name: {
            "database": await _migrate(f"sqlite:///{directory / f'{name}.db'}", f"{name}_server"),
            "state_directory": directory,
        }
        for name in ("control", "auth", "registry")
    }
    limits = {"requests_per_minute": _MANY, "failures_per_minute": _MANY}
    controls = ControlSettings.model_validate({**common["control"], "api_tokens": limits})
    auths = AuthSettings.model_validate(common["auth"])
    registries = RegistrySettings.model_validate(
        {**common["registry"], "mirror": {"url": str(directory / "no-such-repository")}}
    )
    await seed_auth(auths)
    async with open_control(controls) as control, open_auth(auths) as auth:
        apps = {
            "control": create_control(controls, control),
            "auth": create_auth(auths, auth),
            "registry": create_registry(registries, authenticate=ControlAuthenticator(control)),
        }
        clients = {
            name: httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app=app, raise_app_exceptions=False), base_url=ORIGIN
            )
            for name, app in apps.items()
        }
        tokens, accounts = await _fill_control(control), await _fill_auth(auth)
        async with (
            apps["control"].router.lifespan_context(apps["control"]),
            apps["auth"].router.lifespan_context(apps["auth"]),
            apps["registry"].router.lifespan_context(apps["registry"]),
        ):
            yield Doors(apps, control, auth, clients, accounts, tokens)
        for client in clients.values():
            await client.aclose()
