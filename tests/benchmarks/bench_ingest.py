"""Heartbeats over open sockets; prefix reports of growing tables, with processor time and bytes a prefix.

    python -m tests.benchmarks.bench_ingest

Goals: the time for a prefix does not grow with the table (at most twice, from 1,000 to 100,000), and the hot
state of the scores stays below half of 164 KB a node, and below 256 KiB at 100,000 prefixes. Reports are
taken as the socket hands them over: read, compared with what is stored, scored and written, on SQLite, with
the scores on a Valkey of their own. Processor time is that of the process, the database's thread included.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from control_server.app import create_app
from control_server.flaps import tasks as flap_tasks
from control_server.keys import PREFIX_FLAPS
from control_server.resources import ControlResources, open_resources
from control_server.routing.dependencies import table_keeper
from control_server.routing.service import TableKeeper
from control_server.settings import ControlSettings
from shared.database.migrations import upgrade
from shared.kernel.clock import utc_now
from shared.protocol.frames import Heartbeat
from shared.protocol.reports import (
    MAX_CHANGES,
    PrefixAcknowledged,
    PrefixReport,
    Route,
    Validity,
    pack_changes,
)
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers import valkey_server
from shared.testing.waiting import wait_until
from shared.web.app import go_away
from shared.web.server import Server, server_config
from tests.integration.control.probes.stage import seed

SIZES = (1_000, 10_000, 100_000)
AGENTS, HEARTBEATS = 20, 100
LINEAR = 2.0
HOT_BYTES = {1_000: 82_000, 10_000: 82_000, 100_000: 262_144}


@dataclass
class Teller:
    """Makes reports as an agent does."""

    node: str
    sequence: int = 0

    def report(self, changes: list[tuple[str, list[Route]]], **values: object) -> PrefixReport:
        base, self.sequence = self.sequence, self.sequence + 1
        return PrefixReport.model_validate(
            {
                "stream": "bench",
                "sequence": self.sequence,
                "base": base,
                "taken_at": utc_now(),
                "count": len(changes),
                "payload": pack_changes(changes),
                **values,
            }
        )

    def whole(self, table: Mapping[str, list[Route]]) -> Iterator[PrefixReport]:
        changes = list(table.items())
        for at in range(0, len(changes), MAX_CHANGES):
            part = changes[at : at + MAX_CHANGES]
            yield self.report(part, begins=at == 0, complete=at + MAX_CHANGES >= len(changes))


def table_of(size: int) -> dict[str, list[Route]]:
    """Two neighbours tell of each prefix."""
    found = {}
    for number in range(size):
        origin = 4242420000 + number % 1500
        best = Route(
            "rl_a",
            0,
            True,
            False,
            None,
            origin,
            f"4242429901 {origin}",
            2,
            Validity.VALID,
            "fe80::1",
            100,
            None,
        )
        found[f"10.{number >> 14}.{number >> 6 & 255}.{number % 64 * 4}/30"] = [
            best,
            best._replace(protocol="rl_b", best=False, path=f"4242429902 4242429903 {origin}", hops=3),
        ]
    return found


def moved(table: Mapping[str, list[Route]], share: int) -> list[tuple[str, list[Route]]]:
    """One in so many prefixes has another best path."""
    return [
        (prefix, [first._replace(path=f"4242429904 {first.origin}"), *rest])
        for place, (prefix, (first, *rest)) in enumerate(table.items())
        if place % share == 0
    ]


@asynccontextmanager
async def opened(
    directory: Path, kv_url: str | None
) -> AsyncIterator[tuple[ControlResources, dict[str, str]]]:
    directory.mkdir()
    settings = ControlSettings.model_validate(
        {
            "database": {"url": f"sqlite:///{directory / 'control.db'}"},
            "state_directory": directory,
            "kv": {"url": kv_url, "deadline": "PT5S"},
        }
    )
    async with open_resources(settings) as resources:
        await upgrade(resources.database, "control_server")
        names = [f"node{number}" for number in range(AGENTS)]
        yield resources, await seed(resources.database, utc_now(), names)


async def prefix_reports(directory: Path, kv_url: str, size: int) -> tuple[float, float, int]:
    """Microseconds of the processor a prefix, of the whole and of a change; bytes of the scores."""
    async with opened(directory / f"prefixes{size}", kv_url) as (resources, _):
        keeper, teller, table = keeper_of(resources), Teller("node0"), table_of(size)
        whole = await spent(keeper, list(teller.whole(table)))
        changes = moved(table, 100)
        parts = [changes[at : at + MAX_CHANGES] for at in range(0, len(changes), MAX_CHANGES)]
        change = await spent(keeper, [teller.report(part) for part in parts])
        hot = await resources.kv.survey(PREFIX_FLAPS)
        await resources.kv.delete(PREFIX_FLAPS.key(node="node0"))
    return whole / size, change / len(changes), hot.bytes


def keeper_of(resources: ControlResources) -> TableKeeper:
    return table_keeper(resources, flap_tasks.best_paths(resources))


async def spent(keeper: TableKeeper, reports: list[PrefixReport]) -> float:
    began = time.process_time()
    for report in reports:
        answer = await keeper.take("node0", report, 1)
        assert not answer.resynchronise
    return (time.process_time() - began) * 1e6


async def heartbeats(directory: Path) -> float:
    """Heartbeats a second over open sockets, until the last one was acted on."""
    async with opened(directory / "heartbeats", None) as (resources, tokens):
        app = create_app(resources.settings, resources)
        web = resources.settings.web.model_copy(update={"port": 0})
        server = Server(server_config(app, web), farewell=lambda: go_away(app))
        serving = asyncio.create_task(server.serve())
        await wait_until(lambda: server.started)
        url = f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
        async with AsyncExitStack() as stack:
            named = [token for name, token in tokens.items() if name.startswith("node")]
            agents = [await stack.enter_async_context(FakeAgent(url, token)) for token in named]
            for agent in agents:
                await agent.hello()
            began = time.perf_counter()
            await asyncio.gather(*map(beat, agents))
            took = time.perf_counter() - began
        server.should_exit = True
        await serving
    return len(agents) * HEARTBEATS / took


async def beat(agent: FakeAgent) -> None:
    word = Heartbeat(agent_version="1", uptime_seconds=1).model_dump_json()
    for _ in range(HEARTBEATS):
        await agent.send(word)
    # Frames are acted on in order, so the answer to this one follows the last heartbeat.
    await agent.send(Teller("node").report([], begins=True))
    await agent.expect(PrefixAcknowledged)


async def measured(directory: Path) -> bool:
    print(f"heartbeats: {await heartbeats(directory):.0f} a second from {AGENTS} agents", flush=True)
    times: dict[int, tuple[float, float]] = {}
    fits = True
    with valkey_server(directory / "kv") as server:
        for size in SIZES:
            whole, change, hot = await prefix_reports(directory, server.url, size)
            times[size] = (whole, change)
            fits = fits and hot <= HOT_BYTES[size]
            print(
                f"{size} prefixes: {whole:.0f} us a prefix for the whole,"
                f" {change:.0f} us for one that changed, {hot} bytes of hot state",
                flush=True,
            )
    growth = max(times[SIZES[-1]][kind] / times[SIZES[0]][kind] for kind in (0, 1))
    print(f"growth from {SIZES[0]} to {SIZES[-1]}: {growth:.2f} x")
    return growth <= LINEAR and fits


def main() -> int:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as directory:
        met = asyncio.run(measured(Path(directory)))
    print(f"goal: linear within {LINEAR} x and small hot state; {'met' if met else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
