"""A sync as a job: leased by the worker, carried out by the real registry service, shown on its page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from registry_server.app import create_app
from registry_server.settings import RegistrySettings
from shared.database import DatabaseSettings, open_database
from shared.database.migrations import upgrade
from shared.kernel.secrets import mint
from shared.web.app import go_away
from shared.web.server import Server, server_config
from tests.integration.control.jobs.plant import Plant, becomes, open_plant
from tests.integration.registry.objects import ASN, FILES
from tests.integration.registry.upstream import Upstream

TOKEN = mint("rlp")


@dataclass(frozen=True)
class Served:
    """The registry service on a port of its own, and what it mirrors."""

    url: str
    upstream: Upstream
    http: httpx2.AsyncClient

    async def status(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.http.get(f"{self.url}/registry/api/v1/status")).json()
        return found


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[Served]:
    upstream = Upstream.create(tmp_path / "upstream.git")
    upstream.commit(FILES)
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    database = open_database(DatabaseSettings.model_validate({"url": url}))
    await upgrade(database, "registry_server")
    await database.close()
    settings = RegistrySettings.model_validate(
        {
            "database": {"url": url},
            "state_directory": tmp_path / "registry",
            "web": {"port": 0},
            "mirror": {"url": str(upstream.directory), "interval": "PT24H"},
            "token_digests": [TOKEN.digest],
        }
    )
    app = create_app(settings)
    server = Server(server_config(app, settings.web), farewell=lambda: go_away(app))
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        await server.ready.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=20) as http:
            yield Served(f"http://localhost:{port}", upstream, http)
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def planted(registry: Served, sqlite_url: str, directory: Path, token: str) -> AsyncIterator[Plant]:
    (directory / "registry-token").write_text(token)
    jobs = {"registry_token_file": directory / "registry-token"}
    async with open_plant(sqlite_url, directory, registry_url=registry.url, jobs=jobs) as plant:
        yield plant


async def last_end(plant: Plant) -> dict[str, Any]:
    """What the page of jobs says of the last sync, once there was one."""

    async def ended() -> bool:
        return await result(plant) is not None

    await becomes(ended)
    found = await result(plant)
    assert found is not None
    return found


async def result(plant: Plant) -> dict[str, Any] | None:
    schedules = (await plant.admin.get("/api/v1/jobs")).json()["schedules"]
    found: dict[str, Any] | None = next(each for each in schedules if each["kind"] == "registry.sync")["last"]
    return found


async def test_a_job_brings_the_registry_to_the_newest_commit(
    registry: Served, sqlite_url: str, tmp_path: Path
) -> None:
    async def first_sync_of_its_own() -> bool:
        return (await registry.status())["commit"] is not None

    await becomes(first_sync_of_its_own)
    commit = registry.upstream.commit(
        {"data/aut-num/AS4242429902": ASN.replace("AS4242429901", "AS4242429902").encode()}
    )
    async with planted(registry, sqlite_url, tmp_path, TOKEN.text) as plant, plant.working():
        started = await plant.admin.post("/api/v1/jobs/kinds/registry.sync/start")
        assert started.status_code == 202, started.text
        end = await last_end(plant)
        assert (end["outcome"], end["error"]) == ("done", "")
        status = await registry.status()
        assert status["commit"] == commit
        assert (status["syncs"][0]["trigger"], status["syncs"][0]["outcome"]) == ("request", "applied")
        found = await registry.http.get(f"{registry.url}/registry/api/v1/asn/AS4242429902")
        assert found.status_code == 200
        actions = (await plant.admin.get("/api/v1/audit?action=jobs.started")).json()["items"]
        assert [each["after"] for each in actions] == [{"kind": "registry.sync"}]


async def test_a_job_applies_what_is_held_when_it_is_started_by_force(
    registry: Served, sqlite_url: str, tmp_path: Path
) -> None:
    async def synced_first() -> bool:
        return (await registry.status())["commit"] is not None

    await becomes(synced_first)
    commit = registry.upstream.commit(dict.fromkeys(FILES))
    page = f"{registry.url}/registry/sync"
    async with planted(registry, sqlite_url, tmp_path, TOKEN.text) as plant, plant.working():
        refused = await plant.admin.post("/api/v1/jobs/kinds/retention.probes/start", json={"force": True})
        assert refused.status_code == 404
        assert 'name="force"' not in (await registry.http.get(page)).text
        await plant.admin.post("/api/v1/jobs/kinds/registry.sync/start")

        async def held() -> bool:
            return bool((await registry.status())["syncs"][0]["outcome"] == "held")

        await becomes(held)
        shown = (await registry.http.get(page)).text
        form = shown.split('action="/jobs/kinds/registry.sync/start"')[1].split("</form>")[0]
        assert '<input type="checkbox" name="force" value="yes">' in form
        assert "Objects that upstream no longer has" in form
        headers = {"Accept": "text/html"}
        path = "/jobs/kinds/registry.sync/start"
        started = await plant.admin.post(path, data={"force": "yes"}, headers=headers)
        assert started.status_code == 303, started.text

        async def applied() -> bool:
            return bool((await registry.status())["commit"] == commit)

        await becomes(applied)
        actions = (await plant.admin.get("/api/v1/audit?action=jobs.started")).json()["items"]
        assert actions[0]["after"] == {"kind": "registry.sync", "force": True}


async def test_a_token_that_it_does_not_know_fails_the_job_with_its_answer(
    registry: Served, sqlite_url: str, tmp_path: Path
) -> None:
    async with planted(registry, sqlite_url, tmp_path, mint("rlp").text) as plant, plant.working():
        await plant.admin.post("/api/v1/jobs/kinds/registry.sync/start")
        end = await last_end(plant)
        assert end["outcome"] in {"failed", "dead"}
        assert end["error"].startswith("The registry service answered 401.")
