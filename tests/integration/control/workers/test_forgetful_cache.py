"""A cache tier that forgets everything all the time changes no answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from shared.testing.servers import KeyValueServer, redis_server
from tests.integration.control.probes.stage import HandClock, Prepared, Stage, serving, settings_of
from tests.integration.control.workers.pair import on_tiers

PATHS = ("/api/v1/nodes", "/api/v1/nodes/alpha", "/api/v1/nodes/nobody", "/api/v1/probes", "/livez")


@asynccontextmanager
async def flushing(server: KeyValueServer) -> AsyncIterator[None]:
    async def flush() -> None:
        while True:
            await asyncio.to_thread(server.flush)

    task = asyncio.create_task(flush())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def answers(stage: Stage, requests: int) -> list[tuple[int, Any]]:
    """What people and an agent get, one after the other."""
    found: list[tuple[int, Any]] = []
    for number in range(requests):
        if number % 10 == 0:
            report = {"type": "heartbeat", "agent_version": "1", "uptime_seconds": 1}
            token = {"Authorization": f"Bearer {stage.tokens['beta']}"}
            heard = await stage.client.post("/api/v1/agent/reports/heartbeat", json=report, headers=token)
            found.append((heard.status_code, heard.json()))
        answer = await stage.request("GET", PATHS[number % len(PATHS)])
        body = answer.json()
        body.pop("request_id", None)
        found.append((answer.status_code, body))
    return found


@pytest.mark.parametrize("requests", [60, pytest.param(1_500, marks=pytest.mark.soak)])
async def test_no_answer_changes(
    on_sqlite: Prepared, kv: KeyValueServer, clock: HandClock, tmp_path: Path, requests: int
) -> None:
    plain = settings_of(on_sqlite, tmp_path)
    async with serving(plain, clock, on_sqlite) as stage:
        await answers(stage, requests)
        expected = await answers(stage, requests)
    with redis_server(tmp_path / "small", maxmemory="1mb") as small:
        settings = on_tiers(on_sqlite, tmp_path, kv.url, small.url)
        async with serving(settings, clock, on_sqlite) as stage, flushing(small):
            assert await answers(stage, requests) == expected
