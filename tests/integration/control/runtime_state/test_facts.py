"""What `/readyz` and `/metrics/runtime-state` say, and what they never do."""

from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer, valkey_server
from tests.integration.control.api_tokens.test_tokens import made
from tests.integration.control.conftest import copied
from tests.integration.control.enrolment.office import Office, open_office

FIGURES = {
    "backend",
    "ephemeral",
    "active_keys",
    "approx_bytes",
    "max_bytes",
    "capacity_rejections",
    "sweep_count",
    "sweep_failures",
    "last_sweep_at",
    "last_sweep_seconds",
}


async def test_ready_says_what_keeps_the_state(
    on_each_state: Office, state_server: KeyValueServer | None
) -> None:
    memory = state_server is None
    ready = (await on_each_state.outside.get("/readyz")).json()
    assert ready["runtime_state_backend"] == ("memory" if memory else "redis")
    assert ready["runtime_state_ephemeral"] is memory
    assert ready["single_process"] is memory


async def test_figures_are_aggregates(on_each_state: Office, state_server: KeyValueServer | None) -> None:
    token = await made(on_each_state)
    await on_each_state.outside.get("/api/v1/nodes", headers={"Authorization": f"Bearer {token['token']}"})
    answer = await on_each_state.outside.get("/metrics/runtime-state")
    figures = answer.json()
    assert figures.keys() == FIGURES
    assert figures["active_keys"] >= 2
    assert (figures["max_bytes"] == 128 * 2**20) is (state_server is None)
    for hidden in ("pat:", token["token_id"], "127.0.0.1"):
        assert hidden not in answer.text


async def test_the_figures_are_not_part_of_the_interface(lite: Office) -> None:
    assert "/metrics/runtime-state" not in (await lite.outside.get("/openapi.json")).text


async def test_ready_never_asks_the_server(
    migrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with valkey_server(tmp_path / "mortal") as server:
        monkeypatch.setenv("REDIS_URL", f"{server.url}/7")
        async with open_office(copied(migrated, tmp_path), tmp_path) as office:
            server.stop()
            ready = await office.outside.get("/readyz")
            assert (ready.status_code, ready.json()["runtime_state_backend"]) == (200, "redis")
            away = await office.outside.get("/metrics/runtime-state")
            assert (away.status_code, away.json()["active_keys"]) == (200, None)
