"""A registry written by hand that has something of everything, served over HTTP on each database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from registry_server.app import create_app
from tests.integration.registry.conftest import (
    DATABASES,
    Registries,
    Registry,
    client_of,
    fresh_database,
)
from tests.integration.registry.objects import ASN, END, FILES
from tests.integration.registry.upstream import Content, Upstream

API = "/registry/api/v1"


def text(*lines: tuple[str, str]) -> bytes:
    """An object that FOO-MNT holds."""
    return ("".join(f"{name}:".ljust(20) + value + "\n" for name, value in lines) + END).encode()


def network(prefix: str, span: str, *more: tuple[str, str]) -> bytes:
    name = "inet6num" if ":" in prefix else "inetnum"
    return text((name, span), ("cidr", prefix), ("netname", f"NET-{prefix}"), *more)


def route(prefix: str, *origins: str) -> bytes:
    name = "route6" if ":" in prefix else "route"
    return text((name, prefix), *(("origin", origin) for origin in origins))


def as_set(name: str, *lines: tuple[str, str]) -> bytes:
    return text(("as-set", name), *lines)


SCRIPT = "<script>alert(1)</script>"
LATIN = "remarks:            Zürich\n".encode("latin-1")
WORLD: dict[str | bytes, Content] = {
    **FILES,
    "data/inetnum/172.20.0.0_14": network("172.20.0.0/14", "172.20.0.0 - 172.23.255.255", ("policy", "open")),
    "data/inetnum/172.20.0.0_16": network("172.20.0.0/16", "172.20.0.0 - 172.20.255.255"),
    "data/inetnum/172.20.0.0_24": network(
        "172.20.0.0/24", "172.20.0.0 - 172.20.0.255", ("status", "ASSIGNED")
    ),
    "data/inetnum/172.20.0.128_25": network("172.20.0.128/25", "172.20.0.128 - 172.20.0.255"),
    "data/inet6num/fd42:1::_48": network("fd42:1::/48", "fd42:1:: - fd42:1:0:ffff:ffff:ffff:ffff:ffff"),
    "data/route/172.20.0.128_25": route("172.20.0.128/25", "AS4242429901"),
    "data/route/172.20.0.192_26": route("172.20.0.192/26", "AS4242429902"),
    "data/route/172.21.0.1_24": route("172.21.0.1/24", "AS4242429901"),
    "data/person/Foo-DN42": text(("person", "Foo Élan"), ("nic-hdl", "Foo-DN42"), ("remarks", SCRIPT)),
    "data/person/LATIN-DN42": text(("person", "Latin"), ("nic-hdl", "LATIN-DN42")) + LATIN,
    "data/as-set/AS-FOO": as_set("AS-FOO", ("members", "AS4242429901, AS-BAR"), ("members", "AS-GONE")),
    "data/as-set/AS-BAR": as_set(
        "AS-BAR", ("members", "AS4242429902 AS-FOO   # both ways"), ("mbrs-by-ref", "FOO-MNT")
    ),
    "data/as-set/AS-OPEN": as_set("AS-OPEN", ("members", "AS0"), ("mbrs-by-ref", "ANY")),
    "data/as-set/AS-SELF": as_set("AS-SELF", ("members", "AS-SELF")),
    "data/aut-num/AS4242429903": ASN.replace("AS4242429901", "AS4242429903").encode()
    + b"member-of:          AS-BAR\n",
    "data/aut-num/AS4242429904": b"aut-num:            AS4242429904\nas-name:            OTHER-AS\n"
    b"member-of:          AS-BAR\nmember-of:          AS-OPEN\n"
    b"mnt-by:             OTHER-MNT\nsource:             DN42\n",
}


@dataclass(frozen=True, slots=True)
class Served:
    """A registry, its upstream, and a client of it."""

    client: httpx2.AsyncClient
    registry: Registry
    upstream: Upstream

    async def get(self, path: str, **parameters: Any) -> Any:
        answer = await self.client.get(f"{API}{path}", params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def refused(self, path: str, **parameters: Any) -> tuple[int, str]:
        answer = await self.client.get(f"{API}{path}", params=parameters)
        return answer.status_code, answer.json()["code"]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DATABASES)
async def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    """Nothing in a test of it changes it."""
    directory: Path = tmp_path_factory.mktemp("world")
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(WORLD)
    with fresh_database(request, directory) as url:
        async with AsyncExitStack() as stack:
            registry = await Registries(url, directory, stack).open(upstream, interval="PT24H")
            await registry.sync()
            app = create_app(registry.resources.settings, registry.resources)
            client = await stack.enter_async_context(client_of(app))
            yield Served(client, registry, upstream)
