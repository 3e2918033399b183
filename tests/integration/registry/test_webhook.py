"""A forge says that there was a push."""

import hmac

import httpx2
import pytest

from registry_server.app import create_app
from registry_server.mirror.schemas import SyncTrigger
from shared.testing.waiting import wait_until
from tests.integration.registry.conftest import Registries, client_of
from tests.integration.registry.objects import FILES
from tests.integration.registry.upstream import Upstream

PATH = "/registry/api/v1/webhook"
BODY = b'{"ref": "refs/heads/master"}'
SECRET = "a secret of the forge"


def signed(secret: str, body: bytes = BODY) -> str:
    return hmac.digest(secret.encode(), body, "sha256").hex()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestWebhook:
    @pytest.mark.parametrize(
        ("header", "prefix"),
        [("X-Hub-Signature-256", "sha256="), ("X-Gitea-Signature", ""), ("X-Forgejo-Signature", "")],
    )
    async def test_a_signed_one_leads_to_a_sync(
        self, registries: Registries, upstream: Upstream, header: str, prefix: str
    ) -> None:
        upstream.commit(FILES)
        registry = await registries.open(upstream, interval="PT24H", webhook_secret=SECRET)
        await registry.sync()
        commit = upstream.commit({"data/mntner/BAR-MNT": b"mntner: BAR-MNT\n"})
        async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
            answer = await client.post(PATH, content=BODY, headers={header: prefix + signed(SECRET)})
            assert (answer.status_code, answer.content) == (202, b"")

            async def followed() -> bool:
                return bool((await client.get("/registry/api/v1/status")).json()["commit"] == commit)

            await wait_until(followed)
            sync = (await client.get("/registry/api/v1/syncs", params={"limit": 1})).json()["items"][0]
            assert sync["trigger"] in {SyncTrigger.WEBHOOK, SyncTrigger.SCHEDULE}

    @pytest.mark.parametrize(
        "signature", ["", "sha256=", signed("another"), signed(SECRET, b"other"), "ü", signed(SECRET)[:-1]]
    )
    async def test_any_other_is_refused(
        self, registries: Registries, upstream: Upstream, signature: str
    ) -> None:
        registry = await registries.open(upstream, interval="PT24H", webhook_secret=SECRET)
        async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
            headers = httpx2.Headers({"X-Gitea-Signature": signature}, encoding="utf-8")
            answer = await client.post(PATH, content=BODY, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "webhook_refused")

    async def test_without_a_secret_there_is_none(self, registries: Registries, upstream: Upstream) -> None:
        registry = await registries.open(upstream, interval="PT24H")
        async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
            answer = await client.post(PATH, content=BODY, headers={"X-Gitea-Signature": signed("")})
            assert (answer.status_code, answer.json()["code"]) == (404, "webhook_not_configured")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_the_history_of_syncs_is_paged(registries: Registries, upstream: Upstream) -> None:
    registry = await registries.open(upstream, interval="PT24H")
    for step in range(5):
        upstream.commit({**FILES, "README.md": str(step).encode()})
        await registry.sync()
    async with client_of(create_app(registry.resources.settings, registry.resources)) as client:
        first = (await client.get("/registry/api/v1/syncs", params={"limit": 2})).json()
        rest = (await client.get("/registry/api/v1/syncs", params={"cursor": first["next"]})).json()
        assert [sync["id"] for sync in first["items"] + rest["items"]] == [5, 4, 3, 2, 1]
