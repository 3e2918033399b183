"""The cache tier is emptied, killed and started again between samples: only the view of two hours is lost."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.testing.servers import KeyValueServer, redis_server
from shared.testing.waiting import wait_until
from tests.integration.control.conftest import copied
from tests.integration.control.enrolment.office import Office, open_office
from tests.integration.control.fleet_reports import ReportingNode, reporting
from tests.integration.control.routing.reading import TABLE
from tests.integration.control.traffic.reading import HALF_MINUTE, received, run, series


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[KeyValueServer]:
    with redis_server(tmp_path / "cache") as server:
        yield server


@pytest.fixture
async def office(
    cache: KeyValueServer, migrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Office]:
    with monkeypatch.context() as only_while_opening:
        only_while_opening.setenv("ROUTELOOM_CONTROL_CACHE__URL", cache.url)
        only_while_opening.setenv("ROUTELOOM_CONTROL_CACHE__DEADLINE", "PT5S")
        context = open_office(copied(migrated, tmp_path), tmp_path)
        opened = await context.__aenter__()
    try:
        yield opened
    finally:
        await context.__aexit__(None, None, None)


@pytest.fixture
async def node(office: Office) -> ReportingNode:
    return await reporting(office)


async def two_hours(node: ReportingNode) -> tuple[str, bool]:
    found = await series(node, "2h")
    return found["source"], found["degraded"]


async def test_archives_are_the_same_whatever_becomes_of_the_cache(
    node: ReportingNode, cache: KeyValueServer
) -> None:
    await run(node, 0, 3000)
    assert await two_hours(node) == ("samples", False)
    cache.flush()
    assert await two_hours(node) == ("archive_5m", True)
    await run(node, 6000)
    cache.stop()
    await run(node, 9000, 12_000)
    assert await received(node) == 12_000
    assert await two_hours(node) == ("archive_5m", True)
    assert await received(node, "2h") == 12_000
    cache.start()

    async def seen_again() -> bool:
        node.counters["wg-f"] += 300
        await run(node, node.counters["wg-f"])
        return (await two_hours(node))[0] == "samples"

    await wait_until(seen_again, seconds=60)
    total = node.counters["wg-f"]
    assert await received(node) == total
    node.office.clock.turn(HALF_MINUTE)


async def test_numbers_of_tables_are_right_whatever_becomes_of_the_cache(
    node: ReportingNode, cache: KeyValueServer
) -> None:
    async def prefixes() -> tuple[int, int]:
        fleet: dict[str, Any] = (await node.office.admin.get("/api/v1/routing")).json()
        own = (await node.office.admin.get(f"/api/v1/nodes/{node.node_id}/routing")).json()
        return fleet["prefixes4"], own["prefixes4"]

    assert await prefixes() == (0, 0)
    await node.tell_whole(TABLE)
    assert await prefixes() == (2, 2), "what was counted before a report is not believed after it"
    cache.flush()
    assert await prefixes() == (2, 2)
    cache.stop()
    await node.tell({"10.1.0.0/16": []})
    assert await prefixes() == (1, 1)
