"""What operators see of the tiers: `/healthz`, the page, its JSON twin and the command."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from routeloom.cli.main import app as command_line
from shared.testing.servers import KeyValueServer, valkey_server
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import HandClock, Prepared, Stage, serving, settings_of
from tests.integration.control.workers.pair import on_tiers


async def healthz(stage: Stage) -> tuple[int, dict[str, Any]]:
    answer = await stage.client.get("/healthz")
    return answer.status_code, answer.json()


async def says(stage: Stage, status: int, word: str) -> bool:
    found, body = await healthz(stage)
    return (found, body["status"]) == (status, word)


async def test_health_follows_the_tiers_and_readiness_does_not(
    on_postgres: Prepared, kv: KeyValueServer, cache: KeyValueServer, clock: HandClock, tmp_path: Path
) -> None:
    settings = on_tiers(on_postgres, tmp_path, kv.url, cache.url)
    async with serving(settings, clock, on_postgres) as stage:
        await wait_until(lambda: says(stage, 200, "ok"))
        _, body = await healthz(stage)
        assert body["tiers"]["kv"]["keys_without_ttl"] == 0
        assert 0 < body["tiers"]["kv"]["memory_share"] < 0.7
        cache.stop()
        await wait_until(lambda: says(stage, 200, "degraded"))
        kv.pause()
        await wait_until(lambda: says(stage, 503, "unavailable"))
        assert (await stage.client.get("/readyz")).status_code == 200
        assert (await stage.client.get("/livez")).status_code == 200
        kv.resume()
        cache.start()
        await wait_until(lambda: says(stage, 200, "ok"))
        series = (await stage.client.get("/metrics")).text
        assert 'routeloom_cache_up{tier="kv"} 1.0' in series


async def test_a_kv_server_that_evicts_is_reported_with_the_remedy(
    on_postgres: Prepared, cache: KeyValueServer, clock: HandClock, tmp_path: Path
) -> None:
    with valkey_server(tmp_path / "evicting") as evicting:
        evicting._ask("CONFIG SET maxmemory-policy allkeys-lru")
        settings = on_tiers(on_postgres, tmp_path, evicting.url, cache.url)
        async with serving(settings, clock, on_postgres) as stage:
            await wait_until(lambda: reported(stage, "kv", "CONFIG SET maxmemory-policy noeviction"))
            assert await says(stage, 200, "degraded")


async def test_a_cache_server_that_evicts_nothing_is_reported_likewise(
    on_postgres: Prepared, kv: KeyValueServer, cache: KeyValueServer, clock: HandClock, tmp_path: Path
) -> None:
    cache._ask("CONFIG SET maxmemory-policy noeviction")
    try:
        async with serving(on_tiers(on_postgres, tmp_path, kv.url, cache.url), clock, on_postgres) as stage:
            await wait_until(lambda: reported(stage, "cache", "CONFIG SET maxmemory-policy allkeys-lru"))
    finally:
        cache._ask("CONFIG SET maxmemory-policy allkeys-lru")


async def reported(stage: Stage, tier: str, command: str) -> bool:
    _, body = await healthz(stage)
    return any(command in problem["message"] for problem in body["tiers"][tier].get("problems", []))


async def test_the_page_its_twin_and_the_command_say_the_same(
    on_postgres: Prepared,
    kv: KeyValueServer,
    cache: KeyValueServer,
    clock: HandClock,
    tmp_path: Path,
) -> None:
    async with (
        serving(on_tiers(on_postgres, tmp_path, kv.url, cache.url), clock, on_postgres) as stage,
        stage.agent(),
    ):
        await wait_until(lambda: says(stage, 200, "ok"))
        answer = (await stage.request("GET", "/api/v1/tiers", "admin")).json()
        by_tier = {tier["tier"]: tier for tier in answer["items"]}
        families = {family["name"]: family for family in by_tier["kv"]["families"]}
        assert families["agent:live"]["keys"] == 1
        assert 0 < families["agent:live"]["longest_ttl_seconds"] <= 600
        assert families["agent:live"]["without_ttl"] == 0
        assert families["evt:node"]["keys"] is None
        page = await stage.request("GET", "/tiers", "admin", follow_redirects=False)
        assert page.status_code == 200
        assert "agent:live:&lt;node&gt;" in page.text
        for who in ("viewer", "operator"):
            assert (await stage.request("GET", "/api/v1/tiers", who)).status_code == 403


async def test_in_lite_both_are_absent_and_all_is_well(
    on_sqlite: Prepared, clock: HandClock, tmp_path: Path
) -> None:
    async with serving(settings_of(on_sqlite, tmp_path), clock, on_sqlite) as stage:
        status, body = await healthz(stage)
        assert (status, body["status"]) == (200, "ok")
        assert {tier["status"] for tier in body["tiers"].values()} == {"absent"}
        answer = (await stage.request("GET", "/api/v1/tiers", "admin")).json()
        assert [tier["state"] for tier in answer["items"]] == ["absent", "absent"]


def test_the_command_stands_in_the_help() -> None:
    answer = CliRunner().invoke(command_line, ["tiers", "--help"])
    assert answer.exit_code == 0
    assert "--json" in answer.output
