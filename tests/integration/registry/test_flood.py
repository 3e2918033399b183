"""A server in a process of its own, under clients that mean no good: it lives, stays small, serves others.

The suite does a little of each; all of it is soak.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx2
import pytest

from registry_server.roas.rules import pdus
from registry_server.samples.schemas import Manifest
from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire, ask_once
from tests.integration.registry.roas.test_rtr import RESET
from tests.integration.registry.upstream import Upstream

ROOT = Path(__file__).parents[3]
MEGABYTE = 1 << 20
QUESTIONS = (
    b"!gAS4242429901\n",
    b"!!\n!iAS-EGG,1\n!a4AS-CROWD\n!q\n",
    b"!r172.20.0.0/14,M\n",
    b"!oDN42-MNT\n",
    b"-L 172.20.0.1\r\n",
    b"-i mnt-by DN42-MNT\r\n",
    b"-t aut-num \r\n",
    b"help\n",
    b"RS-EVERYTHING\n",
)
PDUS = (RESET, pdus.HEADER.pack(1, 1, 7, 12) + b"\x00\x00\x00\x01", pdus.HEADER.pack(0, 2, 0, 8))


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything."""

    connections: int
    #: Files that the process may have open when it starts.
    descriptors: int
    rounds: int
    megabytes: int


SMALL = Scale(connections=150, descriptors=256, rounds=60, megabytes=3)
WHOLE = Scale(connections=1000, descriptors=1024, rounds=5000, megabytes=100)


@dataclass(frozen=True, slots=True)
class Alone:
    """The server and where it listens."""

    process: subprocess.Popen[bytes]
    scale: Scale
    http: int
    whois: int
    rtr: int

    def memory(self) -> int:
        """Its resident memory in megabytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (found,) = [line for line in lines if line.startswith("VmRSS:")]
        return int(found.split()[1]) // 1024

    def metric(self, name: str) -> int:
        text = httpx2.get(f"http://127.0.0.1:{self.http}/registry/metrics", timeout=60).text
        (line,) = [line for line in text.splitlines() if line.startswith(name + " ")]
        return int(float(line.split()[1]))

    def serves(self) -> bool:
        with contextlib.suppress(httpx2.TransportError):
            url = f"http://127.0.0.1:{self.http}/registry/metrics"
            return "routeloom_registry_snapshot_version 1.0" in httpx2.get(url, timeout=60).text
        return False

    async def others_are_served(self) -> None:
        """On every port, with whole answers."""
        assert self.process.poll() is None
        assert (await ask_once(self.whois, b"AS0\n")).startswith(b"% Source DN42")
        async with await Wire.to(self.rtr) as wire:
            wire.send(RESET)
            version, kind, *_ = pdus.HEADER.unpack(await wire.read(pdus.HEADER.size))
            assert (version, kind) == (1, 3)
        async with httpx2.AsyncClient(timeout=60) as client:
            answer = await client.get(f"http://127.0.0.1:{self.http}/registry/api/v1/asn/AS0")
            assert answer.status_code == 200


@pytest.fixture(
    scope="module", params=[SMALL, pytest.param(WHOLE, marks=pytest.mark.soak)], ids=["small", "whole"]
)
def alone(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    sqlite_template: Path,
    sample: tuple[Upstream, Manifest],
) -> Iterator[Alone]:
    scale: Scale = request.param
    directory = tmp_path_factory.mktemp("flood")
    shutil.copy(sqlite_template, directory / "registry.db")
    ports = [free_loopback_port() for _ in range(3)]
    listen = {"CONNECTIONS": str(scale.connections), "CONNECTIONS_PER_ADDRESS": str(scale.connections)}
    environment = {
        "PATH": os.environ["PATH"],
        "ROUTELOOM_REGISTRY_DATABASE__URL": f"sqlite:///{directory}/registry.db",
        "ROUTELOOM_REGISTRY_STATE_DIRECTORY": str(directory),
        "ROUTELOOM_REGISTRY_MIRROR__URL": str(sample[0].directory),
        "ROUTELOOM_REGISTRY_MIRROR__INTERVAL": "PT24H",
        "ROUTELOOM_REGISTRY_WEB__PORT": str(ports[0]),
        "ROUTELOOM_REGISTRY_WHOIS__PORT": str(ports[1]),
        "ROUTELOOM_REGISTRY_RTR__PORT": str(ports[2]),
        **{
            f"ROUTELOOM_REGISTRY_{port}__{name}": value
            for port in ("WHOIS", "RTR")
            for name, value in listen.items()
        },
    }
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    command = [
        "prlimit",
        f"--nofile={scale.descriptors}:{hard}",
        sys.executable,
        "-m",
        "registry_server",
        "serve",
    ]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    server = Alone(process, scale, *ports)
    try:
        asyncio.run(wait_until(server.serves, seconds=120))
        yield server
        assert process.poll() is None
        assert b"Traceback" not in (directory / "log").read_bytes()
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
async def many(alone: Alone) -> AsyncIterator[AsyncExitStack]:
    """Holds connections, and may hold as many as the test opens."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * WHOLE.connections), hard))
    try:
        async with AsyncExitStack() as stack:
            yield stack
        await wait_until(lambda: alone.metric("routeloom_registry_whois_connections") == 0, seconds=60)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_connections_without_a_word_half_a_word_and_noise(alone: Alone, many: AsyncExitStack) -> None:
    """Both ports full, and more descriptors in use than the process had leave to open when it started."""
    before = alone.memory()
    for number in range(alone.scale.connections):
        noise = random.Random(number).randbytes(1000)  # noqa: S311 - the same bytes each time
        whois = await many.enter_async_context(await Wire.to(alone.whois))
        whois.send((b"", b"!!\n!gAS", b"!!\n" + noise)[number % 3])
        rtr = await many.enter_async_context(await Wire.to(alone.rtr))
        rtr.send((b"", RESET[:5], RESET)[number % 3])
    full = alone.scale.connections * 9 // 10
    await wait_until(lambda: alone.metric("routeloom_registry_whois_connections") >= full, seconds=60)
    assert alone.metric("routeloom_registry_rtr_connections") >= full
    await alone.others_are_served()
    assert alone.memory() - before < 100


async def test_a_byte_at_a_time_keeps_nobody_out(alone: Alone, many: AsyncExitStack) -> None:
    """Bytes that make no question are silence: newcomers take the place of those who send them."""
    slow = []
    for _ in range(alone.scale.connections):
        for port, start in ((alone.whois, b"!!\n!g"), (alone.rtr, RESET[:2])):
            slow.append(await many.enter_async_context(await Wire.to(port)))
            slow[-1].send(start)
    for step in range(3):
        for wire in slow:
            wire.send(b"\x00" if step % 2 else b"A")
        await alone.others_are_served()


async def test_random_bytes_and_questions_gone_wrong(alone: Alone) -> None:
    seeded = random.Random(23)  # noqa: S311 - the same bytes each time
    before = alone.memory()
    for number in range(alone.scale.rounds):
        port, valid = ((alone.whois, QUESTIONS), (alone.rtr, PDUS))[number % 2]
        data = seeded.randbytes(seeded.randint(1, 3000)) if number % 3 == 0 else spoilt(seeded, valid)
        # A router may wait as long as it likes for what is missing, so it ends the exchange itself.
        async with await Wire.to(port) as wire:
            wire.send(data)
            if port == alone.whois:
                wire.writer.write_eof()
                await wire.rest()
    await alone.others_are_served()
    assert alone.memory() - before < 100


def spoilt(seeded: random.Random, valid: tuple[bytes, ...]) -> bytes:
    """Some good questions in a row, with a few bytes changed, lost or doubled."""
    data = bytearray(b"".join(seeded.choices(valid, k=seeded.randint(1, 6))))
    for _ in range(seeded.randint(1, 8)):
        place = seeded.randrange(len(data))
        change = seeded.randrange(3)
        if change == 0:
            data[place] = seeded.randrange(256)
        elif change == 1 and len(data) > 1:
            del data[place]
        else:
            data[place:place] = data[place : place + seeded.randint(1, 40)]
    return bytes(data)


async def test_megabytes_without_an_end(alone: Alone) -> None:
    before = alone.memory()
    for _ in range(alone.scale.megabytes):
        for port, start in ((alone.whois, b"!!\n!g"), (alone.rtr, pdus.HEADER.pack(1, 1, 0, 1_000_000))):
            async with await Wire.to(port) as wire:
                wire.send(start + b"a" * MEGABYTE)
                assert await wire.once()
    await alone.others_are_served()
    assert alone.memory() - before < 100


async def test_who_asks_for_much_and_reads_nothing(alone: Alone, many: AsyncExitStack) -> None:
    before = alone.memory()
    for number in range(alone.scale.connections // 5):
        port, question = ((alone.whois, b"!oDN42-MNT\n"), (alone.rtr, RESET))[number % 2]
        wire = await many.enter_async_context(await Wire.to(port))
        cast("asyncio.Transport", wire.writer.transport).pause_reading()
        wire.send(b"!!\n" * (port == alone.whois) + question * 2000)
    await alone.others_are_served()
    # What all clients together leave unread is bounded at 64 MB.
    assert alone.memory() - before < 200
