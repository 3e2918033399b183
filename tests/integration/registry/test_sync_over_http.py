"""Syncs over HTTP."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from registry_server.app import create_app
from shared.kernel.secrets import mint
from tests.integration.registry.conftest import Registries, client_of
from tests.integration.registry.objects import ASN, FILES
from tests.integration.registry.upstream import Upstream

TOKEN = mint("rlp")


@pytest.fixture
def filled(upstream: Upstream) -> Upstream:
    upstream.commit(FILES)
    return upstream


@pytest.fixture
async def client(registries: Registries, filled: Upstream) -> AsyncIterator[httpx2.AsyncClient]:
    settings = registries.settings(filled, interval="PT24H")
    settings = settings.model_copy(update={"token_digests": (TOKEN.digest,)})
    registry = await registries.open_with(settings)
    await registry.sync()
    async with client_of(create_app(settings, registry.resources)) as client:
        yield client


class TestSync:
    async def test_needs_a_token_with_the_permission(self, client: httpx2.AsyncClient) -> None:
        assert (await client.post("/registry/api/v1/sync")).status_code == 401
        headers = {"Authorization": f"Bearer {mint('rlp').text}"}
        assert (await client.post("/registry/api/v1/sync", headers=headers)).status_code == 401

    async def test_is_visible_as_soon_as_it_is_answered(
        self, client: httpx2.AsyncClient, filled: Upstream
    ) -> None:
        missing = await client.get("/registry/api/v1/asn/AS4242429902")
        commit = filled.commit(
            {"data/aut-num/AS4242429902": ASN.replace("AS4242429901", "AS4242429902").encode()}
        )
        answer = await client.post("/registry/api/v1/sync", headers=_bearer())
        assert (answer.status_code, answer.json()["outcome"], answer.json()["to_commit"]) == (
            200,
            "applied",
            commit,
        )
        found = await client.get("/registry/api/v1/asn/AS4242429902")
        assert (missing.status_code, found.status_code) == (404, 200)

    async def test_what_the_guard_holds_is_a_conflict_until_forced(
        self, client: httpx2.AsyncClient, filled: Upstream
    ) -> None:
        filled.commit(dict.fromkeys(FILES))
        held = await client.post("/registry/api/v1/sync", headers=_bearer())
        assert (held.status_code, held.json()["code"]) == (409, "sync_held")
        assert (await client.get("/registry/api/v1/asn/AS4242429901")).status_code == 200
        forced = await client.post("/registry/api/v1/sync", headers=_bearer(), json={"force": True})
        assert forced.status_code == 200
        assert (await client.get("/registry/api/v1/asn/AS4242429901")).status_code == 404

    async def test_a_change_of_the_object_changes_the_validator(
        self, client: httpx2.AsyncClient, filled: Upstream
    ) -> None:
        first = await client.get("/registry/api/v1/asn/AS4242429901")
        filled.commit({"data/aut-num/AS4242429901": ASN.replace("FOO-AS", "BAR-AS").encode()})
        await client.post("/registry/api/v1/sync", headers=_bearer())
        headers = {"If-None-Match": first.headers["etag"]}
        again = await client.get("/registry/api/v1/asn/AS4242429901", headers=headers)
        assert (again.status_code, again.json()["as_name"]) == (200, "BAR-AS")


def _bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN.text}"}
