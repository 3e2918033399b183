"""The reference workload of the specification: ten nodes at its cadence, an hour compressed, on real tiers.

    python -m tests.benchmarks.bench_reference [--factor 20]

The three services run in this process, served over loopback, on the Valkey and the Redis that the stack
ships, each with 128 MB. Ten agents are connected, beat every 30 s, and authenticate as they pull and report:
traffic every 30 s, prefixes every 60 s, a snapshot and a pull every 5 minutes. Two dashboards are open, the
fleet and a node, and are read again whenever the fleet has changed. Twenty look-ups a minute go to the
registry. An hour takes 3600 / factor seconds; the TTLs of the cache are shortened likewise, so that each key
ends as often as it would. Ten minutes before the hour fill what a running system has.

Goals: hit rate of Redis >= 99.8 %, evictions 0, memory of Valkey <= 1.1 % of its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from shared.cache import Tier, TierInformation
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers import KeyValueServer, redis_server, valkey_server
from shared.web.logs import LogFormat, configure_logs
from tests.benchmarks.reference_services import NODES, Services, compressed, opened

MEMORY = "128mb"
WARM_UP, HOUR = 600.0, 3600.0
LOOK_UPS_A_MINUTE = 20
HIT_RATE, EVICTIONS, MEMORY_SHARE = 0.998, 0, 0.011


@dataclass
class Load:
    """What everybody does, at a pace that does not depend on how fast answers come."""

    services: Services
    factor: float
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0
    refused: list[str] = field(default_factory=list)

    async def every(self, seconds: float, offset: float, act: Callable[[], Awaitable[Any]]) -> None:
        """Act at these instants of compressed time, until the end."""
        clock = asyncio.get_running_loop().time
        at = clock() + offset * seconds / self.factor
        while not self.ended.is_set():
            try:
                async with asyncio.timeout_at(at):
                    await self.ended.wait()
            except TimeoutError:
                await act()
            at += seconds / self.factor

    async def ask(self, client: httpx2.AsyncClient, method: str, path: str, **more: Any) -> None:
        answer = await client.request(method, path, **more)
        self.asked += 1
        if not answer.is_success:
            self.refused.append(f"{method} {path}: {answer.status_code}")

    async def agent(self, number: int, node: str) -> None:
        """One agent: its link, its beats, and what it asks and reports over HTTP."""
        control, token = self.services.control, self.services.tokens[node]
        offset = number / len(NODES)
        bearer = {"Authorization": f"Bearer {token}"}
        report = {"type": "heartbeat", "agent_version": "1", "uptime_seconds": 1}

        async def authenticate() -> None:
            await self.ask(control, "POST", "/api/v1/agent/reports/heartbeat", json=report, headers=bearer)

        async with FakeAgent(self.services.control_url, token) as agent:
            await agent.hello()
            await asyncio.gather(
                self.every(30, offset, agent.heartbeat),
                *(self.every(seconds, offset, authenticate) for seconds in (30, 60, 300, 300)),
            )

    async def dashboard(self, path: str) -> None:
        """A page that is open, and is read again when the stream says that something has changed."""
        headers = {**self.services.viewer, "Accept": "text/html"}
        await self.ask(self.services.control, "GET", path, headers=headers)
        stream = self.services.control.stream("GET", "/fleet/stream", headers=headers, timeout=None)
        async with stream as response:
            lines = response.aiter_lines()
            ending = asyncio.create_task(self.ended.wait())
            while not self.ended.is_set():
                reading = asyncio.ensure_future(anext(lines))
                await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
                elif "changed" in reading.result():
                    await self.ask(self.services.control, "GET", path, headers=headers)

    async def look_ups(self) -> None:
        """What people and the other services ask of the registry."""
        paths = itertools.cycle(self.services.look_ups)

        async def look_up() -> None:
            await self.ask(self.services.registry, "GET", next(paths))

        await self.every(60 / LOOK_UPS_A_MINUTE, 0, look_up)

    async def run(self, measure: Callable[[], Awaitable[None]]) -> None:
        """Everybody at once: ten minutes, a look, an hour, another look."""
        parts = [
            *(self.agent(number, node) for number, node in enumerate(NODES)),
            self.dashboard("/"),
            self.dashboard(f"/nodes/{NODES[0]}"),
            self.look_ups(),
        ]
        async with asyncio.TaskGroup() as group:
            for part in parts:
                group.create_task(part)
            for seconds in (WARM_UP, HOUR):
                await asyncio.sleep(seconds / self.factor)
                await measure()
            self.ended.set()


@dataclass
class Seen:
    """What the servers say of themselves before and after the hour."""

    services: Services
    cache: list[TierInformation] = field(default_factory=list)
    kv: list[TierInformation] = field(default_factory=list)
    counted: list[dict[tuple[str, str], float]] = field(default_factory=list)

    async def look(self) -> None:
        self.cache.append(await self.services.cache.info())
        self.kv.append(await self.services.kv.info())
        self.counted.append(counters(self.services))

    def report(self) -> bool:
        before, after = self.cache
        hits, misses = after.hits - before.hits, after.misses - before.misses
        rate, evicted = hits / (hits + misses), after.evicted_keys - before.evicted_keys
        kv = self.kv[-1]
        share = kv.used_bytes / kv.limit_bytes
        print(f"hit rate of Redis {rate:.2%} ({hits} of {hits + misses}), goal {HIT_RATE:.1%}")
        print(f"evictions {evicted}, goal {EVICTIONS}")
        print(f"memory of Valkey {share:.2%} ({kv.used_bytes} of {kv.limit_bytes}), goal {MEMORY_SHARE:.1%}")
        print(f"keys without a TTL on Valkey: {sum(keys - ends for keys, ends in kv.keyspace.values())}")
        for (family, result), count in sorted(self.counted[1].items()):
            print(f"  {family:14}{result:12}{count - self.counted[0].get((family, result), 0):8.0f}")
        return rate >= HIT_RATE and evicted <= EVICTIONS and share <= MEMORY_SHARE


def counters(services: Services) -> dict[tuple[str, str], float]:
    """What the services counted on the cache tier, by family and result."""
    found: dict[tuple[str, str], float] = {}
    for app in services.apps.values():
        for metric in app.state.metrics.registry.collect():
            for sample in metric.samples:
                labels = sample.labels
                if sample.name == "routeloom_cache_operations_total" and labels["tier"] == Tier.CACHE:
                    key = (labels["family"], f"{labels['operation']} {labels['result']}")
                    found[key] = found.get(key, 0) + sample.value
    return found


async def measured(kv: KeyValueServer, cache: KeyValueServer, directory: Path, factor: float) -> bool:
    with compressed(factor):
        async with opened(kv, cache, directory, factor) as services:
            load, seen = Load(services, factor), Seen(services)
            await load.run(seen.look)
    print(f"{load.asked} requests over HTTP in an hour and ten minutes of {factor:g} times the pace")
    for refusal in sorted(set(load.refused)):
        print(f"  refused: {refusal}, {load.refused.count(refusal)} times")
    return seen.report() and not load.refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--factor", type=float, default=20, help="how much faster than the clock")
    factor = parser.parse_args().factor
    configure_logs(level="ERROR", form=LogFormat.CONSOLE)
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        with (
            valkey_server(directory / "kv", maxmemory=MEMORY) as kv,
            redis_server(directory / "cache", maxmemory=MEMORY) as cache,
        ):
            return 0 if asyncio.run(measured(kv, cache, directory, factor)) else 1


if __name__ == "__main__":
    sys.exit(main())
