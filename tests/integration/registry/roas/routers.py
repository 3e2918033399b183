"""BIRD and stayrtr as Debian ships them, with sockets and configurations of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Ended, run

#: No interface is looked at and no route leaves the daemon: it holds tables of ROAs and nothing else.
BIRD_HEAD = """
router id 192.0.2.1;
roa4 table roa_v4;
roa6 table roa_v6;
protocol device { disabled; }
"""
RPKI = """
protocol rpki registry {
  roa4 { table roa_v4; };
  roa6 { table roa_v6; };
  remote 127.0.0.1 port %d;
  refresh keep 1;
  retry keep 1;
  expire keep 600;
}
"""


@dataclass(frozen=True, slots=True)
class Bird:
    """A running BIRD."""

    socket: Path

    async def ask(self, *words: str) -> str:
        return (await run("birdc", "-r", "-s", str(self.socket), *words)).output

    async def roas(self) -> list[str]:
        """Everything in both tables, as BIRD shows it."""
        lines = []
        for table in ("roa_v4", "roa_v6"):
            shown = await self.ask("show", "route", "table", table)
            lines += [
                line.split("[")[0].strip() for line in shown.splitlines() if "AS" in line and "/" in line
            ]
        return sorted(" ".join(line.split()[:2]) for line in lines)

    async def shows(self, expected: list[str]) -> bool:
        """Whether its tables hold these by now: its socket is there before its protocols are up."""
        return await self.roas() == sorted(expected)


@asynccontextmanager
async def bird(directory: Path, configuration: str) -> AsyncIterator[Bird]:
    """BIRD with the configuration behind the head, until the end of the body."""
    file, control = directory / "bird.conf", directory / "bird.ctl"
    file.write_text(BIRD_HEAD + configuration)
    process = await asyncio.create_subprocess_exec(
        "bird", "-f", "-c", str(file), "-s", str(control), "-P", str(directory / "bird.pid")
    )
    try:
        await wait_until(control.exists)
        yield Bird(control)
    finally:
        process.terminate()
        await process.wait()


async def check_configuration(directory: Path, configuration: str) -> Ended:
    """`bird -p`: whether it would be taken."""
    file = directory / "checked.conf"
    file.write_text(BIRD_HEAD + configuration)
    return await run("bird", "-p", "-c", str(file))


@asynccontextmanager
async def stayrtr(url: str) -> AsyncIterator[int]:
    """stayrtr with its own defaults, fed by the URL; yields the port on which it serves routers."""
    port = free_loopback_port()
    process = await asyncio.create_subprocess_exec(
        *("stayrtr", "-cache", url, "-bind", f"127.0.0.1:{port}"),
        *("-metrics.addr", f"127.0.0.1:{free_loopback_port()}", "-slurm", "", "-refresh", "1"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield port
    finally:
        process.terminate()
        await process.wait()


async def rtrdump(port: int, directory: Path, *options: str) -> list[dict[str, Any]]:
    """Everything that a cache tells a router, by stayrtr's own client."""
    file = directory / f"dump-{port}.json"
    await run("rtrdump", "-connect", f"127.0.0.1:{port}", "-file", str(file), *options)
    found: list[dict[str, Any]] = json.loads(file.read_text())["roas"] if file.exists() else []
    return found
