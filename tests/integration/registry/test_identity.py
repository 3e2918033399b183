"""Who may speak for an AS number, over HTTP."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from registry_server.app import create_app
from shared.protocol.registry import AsnIdentities, Identity
from tests.integration.registry.conftest import DATABASES, Registries, client_of, fresh_database
from tests.integration.registry.objects import END, FILES, KEY
from tests.integration.registry.upstream import Content, Upstream

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRINT = "0123456789ABCDEF0123456789ABCDEF01234567"
_SHARED = "mntner:             DN42-MNT\nmnt-by:             DN42-MNT\nsource:             DN42\n"
_BAR = (
    f"mntner:             Bar-MNT\nauth:               pgp-fingerprint {PRINT.lower()}\n"
    f"auth:               PGPKEY-01234567\nauth:               PGPKEY-FFFFFFFF\n"
    f"auth:               #ssh-rsa AAAAB3\n{END}"
)
_CERT = (
    "key-cert:           PGPKEY-01234567\nmethod:             PGP\n"
    "fingerpr:           0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567\n"
    "certif:             -----BEGIN PGP PUBLIC KEY BLOCK-----\n"
    "certif:             AAAA\n"
    f"certif:             -----END PGP PUBLIC KEY BLOCK-----\n{END}"
)
_OWNERS = "mnt-by:             FOO-MNT\nmnt-by:             bar-mnt\nmnt-by:             DN42-MNT\n"
_MANY = (
    "aut-num:            AS4242429905\nas-name:            MANY-AS\n"
    f"{_OWNERS}mnt-by:             GONE-MNT\nsource:             DN42\n"
)
_ORPHAN = (
    "aut-num:            AS4242429906\nas-name:            ORPHAN-AS\n"
    "mnt-by:             DN42-MNT\nsource:             DN42\n"
)
OBJECTS: dict[str | bytes, Content] = {
    **FILES,
    "data/mntner/DN42-MNT": _SHARED.encode(),
    "data/mntner/Bar-MNT": _BAR.encode(),
    "data/mntner/BROKEN-MNT": _BAR.replace("Bar", "BROKEN").encode() + b"\0",
    "data/key-cert/PGPKEY-01234567": _CERT.encode(),
    "data/aut-num/AS4242429905": _MANY.encode(),
    "data/aut-num/AS4242429906": _ORPHAN.encode(),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DATABASES)
async def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx2.AsyncClient]:
    directory = tmp_path_factory.mktemp("identity")
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(OBJECTS)
    with fresh_database(request, directory) as url:
        async with AsyncExitStack() as stack:
            registry = await Registries(url, directory, stack).open(upstream, interval="PT24H")
            await registry.sync()
            app = create_app(registry.resources.settings, registry.resources)
            yield await stack.enter_async_context(client_of(app))


async def identity(client: httpx2.AsyncClient, asn: str, mntner: str) -> Any:
    return (await client.get(f"/registry/api/v1/identity/{asn}/{mntner}")).json()


class TestOfAsn:
    async def test_lists_every_maintainer_but_shared_and_missing_ones(
        self, client: httpx2.AsyncClient
    ) -> None:
        answer = await client.get("/registry/api/v1/identity/as4242429905")
        found = AsnIdentities.model_validate(answer.json())
        assert found.as_name == "MANY-AS"
        assert [each.mntner for each in found.mntners] == ["FOO-MNT", "Bar-MNT"]

    async def test_an_as_that_only_shared_maintainers_hold_has_nobody(
        self, client: httpx2.AsyncClient
    ) -> None:
        assert (await client.get("/registry/api/v1/identity/AS4242429906")).json()["mntners"] == []

    async def test_an_unknown_as_is_unknown(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/registry/api/v1/identity/AS4242429999")
        assert (answer.status_code, answer.json()["code"]) == (404, "asn_unknown")


class TestGet:
    async def test_gives_the_claims_of_the_active_maintainer(self, client: httpx2.AsyncClient) -> None:
        found = Identity.model_validate(await identity(client, "AS4242429905", "BAR-mnt"))
        assert found.mntner == "Bar-MNT"
        assert found.claims.model_dump(mode="json") == {
            "asn": 4242429905,
            "mntner": "Bar-MNT",
            "dn42": {
                "asn": 4242429905,
                "active_mnt": "Bar-MNT",
                "asns": [4242429905],
                "mnts": ["FOO-MNT", "Bar-MNT"],
                "active_name": "MANY-AS",
            },
        }

    async def test_names_every_as_of_the_maintainer(self, client: httpx2.AsyncClient) -> None:
        claims = (await identity(client, "4242429901", "foo-mnt"))["claims"]
        assert claims["dn42"]["asns"] == [4242429901, 4242429905, 4294967295]

    async def test_keys_are_read_and_what_is_unknown_never_proves(self, client: httpx2.AsyncClient) -> None:
        found = Identity.model_validate(await identity(client, "AS4242429905", "foo-mnt"))
        assert [(line.method, line.value) for line in found.auth] == [
            ("ssh-ed25519", f"{KEY} foo@laptop.example"),
            ("unknown", ""),
        ]
        assert found.auth[1].raw == "MTN-OLD"

    async def test_pgp_keys_have_a_fingerprint_where_the_registry_says_it(
        self, client: httpx2.AsyncClient
    ) -> None:
        found = Identity.model_validate(await identity(client, "AS4242429905", "bar-mnt"))
        assert [(line.method, line.fingerprint) for line in found.auth] == [
            ("pgp-fingerprint", PRINT),
            ("pgpkey", PRINT),
            ("pgpkey", None),
        ]
        armour = found.auth[1].certificate
        assert armour is not None
        assert armour.splitlines()[1] == "AAAA"

    @pytest.mark.parametrize("mntner", ["DN42-MNT", "dn42-mnt", "GONE-MNT", "BROKEN-MNT", "%20", "A%00"])
    async def test_whoever_cannot_speak_for_it_is_told_so(
        self, client: httpx2.AsyncClient, mntner: str
    ) -> None:
        answer = await client.get(f"/registry/api/v1/identity/AS4242429905/{mntner}")
        assert (answer.status_code, answer.json()["code"]) == (404, "mntner_not_of_asn")

    @pytest.mark.parametrize("mntner", ["FOO-MNT", "DN42-MNT"])
    async def test_an_unknown_as_is_another_refusal(self, client: httpx2.AsyncClient, mntner: str) -> None:
        answer = await client.get(f"/registry/api/v1/identity/AS4242429999/{mntner}")
        assert (answer.status_code, answer.json()["code"]) == (404, "asn_unknown")

    async def test_is_conditional(self, client: httpx2.AsyncClient) -> None:
        first = await client.get("/registry/api/v1/identity/AS4242429905/foo-mnt")
        known = {"If-None-Match": first.headers["etag"]}
        again = await client.get("/registry/api/v1/identity/AS4242429905/foo-mnt", headers=known)
        assert again.status_code == 304
