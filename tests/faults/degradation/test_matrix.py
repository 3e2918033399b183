"""Every family under every fault: what the caller sees, written down by the run that has seen it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from routeloom.reference.keys import families
from routeloom.reference.markdown import table
from routeloom.reference.pages import DIRECTORY
from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from shared.testing.waiting import wait_until
from tests.faults.degradation.faults import FAULTS, WELL, Fault, happening
from tests.faults.degradation.world import PREPARATIONS, ROWS, World, world

pytestmark = pytest.mark.timeout(180)

CELLS: dict[tuple[str, str], str] = {}
UNTESTED = "untested"
REMARK = "Written by the run of tests/faults/degradation. Change the tests, not this page."
HEAD = f"# Degradation\n\n<!-- {REMARK} -->"
INTRODUCTION = """What a caller sees of each key family while its tier has a fault. The page is written by the
run of the tests that put real servers into each of these states; after each of them every row is well again
without a restart. Nothing here is an error of the server."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KeyValueServer, KeyValueServer]]:
    with (
        valkey_server(tmp_path_factory.mktemp("kv")) as kv,
        redis_server(tmp_path_factory.mktemp("cache")) as cache,
    ):
        yield kv, cache


@pytest.fixture
async def opened(
    request: pytest.FixtureRequest, servers: tuple[KeyValueServer, KeyValueServer], tmp_path: Path
) -> AsyncIterator[World]:
    fault: Fault = request.param
    for server in servers:
        server.flush()
    kv, cache = (fault.address(server) for server in servers)
    async with world(kv, cache, tmp_path) as made:
        yield made


async def prepared(at: World) -> None:
    for prepare in PREPARATIONS:
        await prepare(at)
    await ROWS["agtok"](at)
    await ROWS["regname"](at)
    await ROWS["ds"](at)


async def answers(at: World) -> bool:
    for cache in at.caches:
        if cache.configured:
            try:
                await cache.server_time()
            except Exception:  # noqa: BLE001 - whatever it is, it is asked again
                return False
    return True


@pytest.mark.parametrize(
    ("opened", "fault"),
    [(fault, fault) for fault in FAULTS],
    ids=lambda fault: fault.name,
    indirect=["opened"],
)
async def test_what_the_caller_sees(
    opened: World, fault: Fault, servers: tuple[KeyValueServer, KeyValueServer]
) -> None:
    await wait_until(lambda: answers(opened))
    await prepared(opened)
    with happening(fault, servers):
        for name, act in ROWS.items():
            CELLS[name, fault.name] = await act(opened)
    # No restart is needed afterwards: the same rows, as if nothing had been.
    await wait_until(lambda: answers(opened), seconds=30)
    if fault.address(servers[0]) is not None:
        await wait_until(lambda: well_again(opened), seconds=30)


async def well_again(at: World) -> bool:
    await prepared(at)
    return all([await act(at) == CELLS[name, WELL.name] for name, act in ROWS.items()])


def test_every_cell_was_tested_and_is_written_down() -> None:
    names = sorted({family.name for family in families()})
    columns = [fault.name for fault in FAULTS]
    rows = [[f"`{name}`", *(CELLS.get((name, column), UNTESTED) for column in columns)] for name in names]
    text = "\n\n".join((HEAD, INTRODUCTION, table(("family", *columns), rows))) + "\n"
    (DIRECTORY / "degradation.md").write_text(text)
    untested = [row[0] for row in rows if UNTESTED in row]
    assert not untested
