"""Heartbeats over 200 open agent sockets, against a socket that only takes what comes.

    python -m tests.benchmarks.bench_heartbeats

Goals: at least half of the messages a second of the bare socket under the same server, and at most 60 KiB of
memory an agent that is connected. Server and agents are processes of their own; ours runs as in Lite, on
SQLite without tiers. What counts is the processor time of the server, because whatever asks shares the
machine with it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tests.benchmarks.agents_by_hand import BEAT, LAST, HandAgent, connect
from tests.benchmarks.http_load import processor_seconds

AGENTS, HEARTBEATS, ROUNDS = 200, 100, 2
#: Agents that come before memory is looked at: what they bring in for good, such as compiled statements and
#: connections to the database, is no cost of an agent.
FIRST = 50
GOAL_RATIO, GOAL_KIB = 0.5, 60


@dataclass(frozen=True)
class Running:
    pid: int
    port: int
    tokens: list[str]

    @property
    def resident_kib(self) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@asynccontextmanager
async def running(kind: str, directory: Path, agents: int) -> AsyncIterator[Running]:
    directory.mkdir()
    command = [sys.executable, "-m", "tests.benchmarks.heartbeat_servers", kind, str(directory), str(agents)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        told = json.loads(line)
        try:
            yield Running(process.pid, told["port"], list(told["tokens"].values()))
        finally:
            process.communicate("")


async def burst(agents: list[HandAgent]) -> None:
    """Every agent sends all it has, and waits until the last of it was acted on."""
    for agent in agents:
        agent.transport.write(BEAT * HEARTBEATS + LAST)
    for agent in agents:
        while b"error" not in (answer := await agent.answers.get()) and answer != b"end":
            assert answer != b"closed"


async def rate(kind: str, directory: Path) -> tuple[float, float, float]:
    """Heartbeats a second of the server's processor and on the clock, and KiB of memory an agent."""
    async with running(kind, directory / kind, FIRST + AGENTS) as server:
        first = await connect(server.port, server.tokens[:FIRST])
        before = server.resident_kib
        agents = await connect(server.port, server.tokens[FIRST:])
        held = (server.resident_kib - before) / AGENTS
        await burst(agents)
        used, began = processor_seconds(server.pid), perf_counter()
        for _ in range(ROUNDS):
            await burst(agents)
        took, used = perf_counter() - began, processor_seconds(server.pid) - used
        for agent in first + agents:
            agent.transport.close()
    sent = AGENTS * HEARTBEATS * ROUNDS
    return sent / used, sent / took, held


async def measured(directory: Path) -> bool:
    rates = {}
    for kind in ("sink", "control"):
        rates[kind] = await rate(kind, directory)
        by_processor, by_clock, held = rates[kind]
        print(
            f"{kind:8s} {by_processor:7.0f} heartbeats a second of its processor, {by_clock:7.0f} on the"
            f" clock, {held:5.1f} KiB an agent of {AGENTS}",
            flush=True,
        )
    ratio = rates["control"][0] / rates["sink"][0]
    print(f"ratio {ratio:.2f}, goal {GOAL_RATIO}", flush=True)
    held = rates["control"][2]
    print(f"{held:.1f} KiB an agent, goal {GOAL_KIB}", flush=True)
    return ratio >= GOAL_RATIO and held <= GOAL_KIB


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        met = asyncio.run(measured(Path(directory)))
    print("goals met" if met else "goals missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
