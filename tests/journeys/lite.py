"""Routeloom Lite as a person starts it: a process of its own, with its local agent, on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from node_agent.supervise import running_pid, stop

_START_SECONDS = 100
_LINK = re.compile(r"Sign in +(\S+)")
_INVITATION = re.compile(r"Invitation +(\S+)")
_PORTAL = re.compile(r"Portal +(\S+)")

#: Journeys ask again and again until something is so.
PATIENT = {"ROUTELOOM_CONTROL_API_TOKENS__REQUESTS_PER_MINUTE": "1000000"}


@dataclass
class Lite:
    """One state directory and the process that serves it."""

    home: Path
    prefix: Sequence[str] = ()
    process: subprocess.Popen[str] | None = None
    printed: str = ""
    port: int = 0
    environment: dict[str, str] = field(default_factory=lambda: dict(PATIENT))

    @property
    def url(self) -> str:
        """The portal's address."""
        return str(_PORTAL.findall(self.printed)[-1])

    @property
    def link(self) -> str:
        """The one-time link that was printed."""
        return str(_LINK.findall(self.printed)[-1])

    @property
    def invitation(self) -> str:
        """The invitation of the first administrator that was printed."""
        return str(_INVITATION.findall(self.printed)[-1])

    @property
    def token(self) -> str:
        """The token of the service principal."""
        return (self.home / "admin-token").read_text().strip()

    def command(self, *arguments: str) -> list[str]:
        """A `routeloom` command line."""
        return [*self.prefix, sys.executable, "-m", "routeloom", *arguments]

    def start(self) -> None:
        """Start and wait until it has said where to go."""
        self.process = subprocess.Popen(
            self.command("lite", "--port", str(self.port), "--home", str(self.home)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **self.environment},
        )
        assert self.process.stdout is not None
        deadline = time.monotonic() + _START_SECONDS
        said = ""
        for line in self.process.stdout:
            said += line
            if "Stop " in line:
                break
            assert time.monotonic() < deadline, said
        assert "Routeloom Lite runs" in said, said
        self.printed += said
        self.port = int(self.url.rsplit(":", 1)[1])

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and wait; answers the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        status = self.process.wait(timeout=60)
        if self.process.stdout is not None:
            self.printed += self.process.stdout.read()
            self.process.stdout.close()
        self.process = None
        return status

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a `routeloom` command against this Lite."""
        environment = {**os.environ, **self.environment, "ROUTELOOM_HOME": str(self.home)}
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=90, env=environment, check=False
        )

    def client(self) -> httpx2.Client:
        """An API client with the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    @property
    def agent_pid(self) -> int | None:
        """The process of the local agent."""
        return running_pid(self.home / "agent")


@contextmanager
def lite(home: Path, prefix: Sequence[str] = ()) -> Iterator[Lite]:
    """A running Lite; it and its agent are gone afterwards, whatever happened."""
    running = Lite(home=home, prefix=prefix)
    try:
        running.start()
        yield running
    finally:
        if running.process is not None:
            running.end(signal.SIGKILL)
        stop(home / "agent")
