"""A registry that really follows a git repository, and people who hold parts of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from registry_server.app import create_app
from registry_server.mirror.schemas import SyncTrigger
from registry_server.mirror.service import MirrorService
from registry_server.resources import open_resources
from registry_server.settings import RegistrySettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.protocol.registry import AuthLine
from tests.integration.registry.conftest import Seen
from tests.integration.registry.upstream import Upstream


@dataclass
class Reachable(httpx2.AsyncBaseTransport):
    """The way to the registry: open, closed, or one on which nothing ever comes back."""

    inner: httpx2.AsyncBaseTransport
    away: bool = False
    silent: bool = False
    #: Paths that were asked for.
    asked: list[str] = field(default_factory=list)
    #: What is answered in place of the registry.
    instead: httpx2.Response | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.url.raw_path.decode())
        if self.away:
            message = "nobody listens"
            raise httpx2.ConnectError(message)
        if self.silent:
            patience = request.extensions["timeout"]["read"]
            await asyncio.sleep(patience)
            message = "no answer in time"
            raise httpx2.ReadTimeout(message)
        return self.instead or await self.inner.handle_async_request(request)


@dataclass
class Network:
    """The registry, and the repository that its members change."""

    upstream: Upstream
    mirror: MirrorService
    way: Reachable
    http: httpx2.AsyncClient

    async def publish(self, **objects: str | None) -> None:
        """Commit objects by path with `__` for `/`, and let the registry follow."""
        files: dict[str | bytes, Any] = {
            f"data/{path.replace('__', '/')}": text and text.encode() for path, text in objects.items()
        }
        self.upstream.commit(files)
        await self.mirror.sync(SyncTrigger.REQUEST, force=True)

    async def mntner(self, name: str, *lines: AuthLine | str) -> None:
        """Publish a maintainer with these keys."""
        await self.publish(**{f"mntner__{name}": mntner(name, lines)})

    async def aut_num(self, asn: int, *mntners: str) -> None:
        """Publish an AS number of these maintainers."""
        await self.publish(**{f"aut-num__AS{asn}": aut_num(asn, mntners)})


def attributes(*pairs: tuple[str, str]) -> str:
    return "".join(f"{name + ':':<20}{value}\n" for name, value in (*pairs, ("source", "DN42")))


def mntner(name: str, lines: Sequence[AuthLine | str]) -> str:
    auth = [("auth", line if isinstance(line, str) else line.raw) for line in lines]
    return attributes(("mntner", name), ("mnt-by", name), *auth)


def aut_num(asn: int, mntners: Sequence[str]) -> str:
    mnt_by = [("mnt-by", name) for name in mntners]
    return attributes(("aut-num", f"AS{asn}"), ("as-name", f"NET-{asn}"), *mnt_by)


def key_cert(fingerprint: str, armour: str, name: str) -> str:
    certif = [("certif", line) for line in armour.strip().split("\n")]
    return attributes(
        ("key-cert", name), ("method", "PGP"), ("fingerpr", fingerprint), *certif, ("mnt-by", "KEY-MNT")
    )


@asynccontextmanager
async def open_network(directory: Path) -> AsyncIterator[Network]:
    """An empty registry."""
    directory.mkdir()
    url = f"sqlite:///{directory / 'registry.db'}"
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    await upgrade(database, "registry_server")
    await database.close()
    upstream = Upstream.create(directory / "upstream.git")
    settings = RegistrySettings.model_validate(
        {
            "database": {"url": url},
            "state_directory": directory / "state",
            "mirror": {"url": str(upstream.directory)},
        }
    )
    async with open_resources(settings) as resources:
        app = create_app(settings, resources)
        way = Reachable(httpx2.ASGITransport(app=app))
        async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=way) as http:
            yield Network(upstream, resources.mirror(Seen()), way, http)
