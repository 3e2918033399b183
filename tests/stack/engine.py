"""podman with everything it keeps below one directory, and `docker` and `sudo` as the runbook calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose"
PROJECT = "docker-compose"

_CONTAINERS_CONF = """\
[containers]
default_sysctls = []
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""


def say(sentence: str) -> None:
    print(sentence, flush=True)


class CommandFailed(Exception):
    """A program ended with an error; what it said is in the text."""


@dataclass(frozen=True)
class Engine:
    """One podman of our own."""

    state: Path

    def prepare(self) -> None:
        """Make the directories and the programs."""
        for name in ("bin", "tmp", "networks"):
            (self.state / name).mkdir(parents=True, exist_ok=True)
        (self.state / "containers.conf").write_text(_CONTAINERS_CONF)
        flags = (
            f"--root {self.state}/root --runroot {self.state}/run --tmpdir {self.state}/libpod"
            f" --storage-driver overlay --cgroup-manager cgroupfs --runtime runc"
            f" --network-config-dir {self.state}/networks"
        )
        self._program("podman", f'exec /usr/bin/podman {flags} "$@"')
        self._program("docker", 'exec podman "$@"')
        self._program("sudo", 'exec "$@"')

    def _program(self, name: str, line: str) -> None:
        path = self.state / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "PATH": f"{self.state / 'bin'}:{os.environ['PATH']}",
            "CONTAINERS_CONF": str(self.state / "containers.conf"),
            "TMPDIR": str(self.state / "tmp"),
            # There is no systemd whose timers could ask for health; `healthy` does.
            "DISABLE_HC_SYSTEMD": "true",
        }

    def run(self, *words: str, check: bool = True, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """One command with podman on its PATH; standard output and error come together."""
        done = subprocess.run(
            words,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout,
        )
        if check and done.returncode != 0:
            raise CommandFailed(f"$ {' '.join(words)}\n{done.stdout}")
        return done

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """A line as a person types it."""
        return self.run("bash", "-o", "pipefail", "-c", line, check=False)

    def podman(self, *words: str) -> str:
        """What podman says on standard output; its warnings are elsewhere."""
        done = subprocess.run(
            ["podman", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise CommandFailed(f"$ podman {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def healthy(self, container: str) -> bool:
        """Whether the container's own health check is content now."""
        return self.run("podman", "healthcheck", "run", container, check=False).returncode == 0

    def inspect(self, container: str) -> dict[str, Any]:
        (found,) = json.loads(self.podman("inspect", container))
        return dict(found)

    def has_image(self, name: str) -> bool:
        return self.run("podman", "image", "exists", name, check=False).returncode == 0


def compose_program() -> Path:
    """podman-compose, in an environment made from its own lock on first use."""
    environment = ROOT / ".venv" / "stack"
    program = environment / "bin" / "podman-compose"
    if not program.exists():
        uv = str(ROOT / ".venv" / "bin" / "uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
        lock = str(ROOT / "requirements" / "stack.txt")
        install = ["pip", "sync", "--quiet", "--require-hashes", "--python", str(environment), lock]
        subprocess.run([uv, *install], check=True)
    return program


def compose(engine: Engine, files: Sequence[Path], settings: Path, *words: str, check: bool = True) -> str:
    """podman-compose with these files and variables; its standard output and error."""
    named = [word for file in files for word in ("-f", str(file))]
    program = [str(compose_program()), "--env-file", str(settings), *named, *words]
    return engine.run(*program, check=check, timeout=600).stdout
