"""IRRd on PostgreSQL and Redis, loaded with objects of a made-up registry."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shared.testing.servers import PostgresServer, postgres_server, redis_server
from shared.testing.servers.ports import free_loopback_port
from tests.benchmarks.peers import python_of

_PATIENCE_SECONDS = 60
_LOADING = Path(__file__).with_name("irrd_loading.py")
_CONFIGURATION = """
irrd:
  database_url: {database}
  redis_url: {redis}
  piddir: {directory}
  auth: {{gnupg_keyring: {directory}}}
  email: {{from: irrd@foo.example, smtp: localhost}}
  log: {{level: WARNING, logfile_path: {directory}/irrd.log}}
  rpki: {{roa_source: null}}
  server:
    http: {{interface: 127.0.0.1, port: {http_port}, url: "http://127.0.0.1:{http_port}/", workers: 1}}
    whois: {{interface: 127.0.0.1, port: {port}, max_connections: {workers}}}
  sources:
    DN42: {{keep_journal: false, authoritative: false}}
"""


@dataclass(frozen=True, slots=True)
class Irrd:
    """A running IRRd."""

    port: int
    pid: int
    #: The places of the objects that it did not take: classes and names that its grammar does not know.
    refused: list[int]


@contextmanager
def irrd_server(directory: Path, objects: Sequence[bytes], workers: int = 8) -> Iterator[Irrd]:
    """IRRd with the objects; all of it is gone at the end."""
    with postgres_server(directory / "postgres") as postgres, redis_server(directory / "redis") as redis:
        configuration = directory / "irrd.yaml"
        port = free_loopback_port()
        configuration.write_text(
            _CONFIGURATION.format(
                database=_database(postgres),
                redis=redis.url,
                directory=directory,
                http_port=free_loopback_port(),
                port=port,
                workers=workers,
            )
        )
        programs = python_of("irrd").parent
        environment = {**os.environ, "CI": "1", "PATH": f"{programs}:{os.environ['PATH']}"}
        _run([programs / "irrd_database_upgrade", "--config", configuration], environment)
        dump = directory / "objects.rpsl"
        dump.write_bytes(b"\n\n".join(objects))
        printed = _run([programs / "python", "-P", _LOADING, configuration, dump], environment)
        command = [str(programs / "irrd"), "--config", str(configuration), "--foreground"]
        server = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            _wait_for(port, server)
            yield Irrd(port, server.pid, json.loads(printed.splitlines()[-1]))
        finally:
            server.terminate()
            server.wait(timeout=_PATIENCE_SECONDS)


def _database(postgres: PostgresServer) -> str:
    return postgres.url.replace("+asyncpg", "")


def _run(command: Sequence[str | Path], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Until it answers from its preloaded store, which is empty for a while after the start."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"irrd ended with {server.returncode}")
        if _answers(port):
            return
        time.sleep(0.2)
    raise TimeoutError("irrd does not answer")


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            client.sendall(b"!iAS-EGG,1\n")
            return client.recv(100).startswith(b"A")
    except OSError:
        return False
