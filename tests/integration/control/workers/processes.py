"""control_server as real processes, with the settings of Full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx

from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.control.probes.stage import PLAIN


@dataclass
class Service:
    """`python -m <package> serve` on a port of its own."""

    package: str
    environment: dict[str, str]
    log: Path
    arguments: tuple[str, ...] = ()
    port: int = field(default_factory=free_loopback_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def launch(self) -> None:
        prefix = self.package.removesuffix("_server").upper()
        settings = self.environment | {f"ROUTELOOM_{prefix}_WEB__PORT": str(self.port)}
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", self.package, "serve", *self.arguments],
                env=os.environ | settings,
                stdout=output,
                stderr=output,
            )

    async def start(self, path: str = "/livez") -> None:
        self.launch()
        async with httpx.AsyncClient(verify=PLAIN) as client:
            await wait_until(lambda: self._answers(client, path), seconds=60)

    async def _answers(self, client: httpx.AsyncClient, path: str) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.tail()
        try:
            return (await client.get(f"{self.url}{path}")).status_code == 200
        except httpx.TransportError:
            return False

    def tail(self) -> str:
        return self.log.read_text()[-2000:]

    def children(self) -> set[int]:
        assert self.process is not None
        pid = self.process.pid
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return {int(child) for child in found.split()}

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def ending(*services: Service) -> Iterator[None]:
    try:
        yield
    finally:
        for service in services:
            service.end()
