"""Valkey and Redis, from the very configuration files that the compose stack ships."""

import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shared.testing.servers.process import ServerProcess, find_program

CONFIGURATIONS = Path(__file__).resolve().parents[3] / "docker-compose"
ANSWER_WITHIN = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    package: str
    configuration: str


VALKEY = Program("valkey-server", "valkey-server", "valkey.conf")
VALKEY_STATE = Program("valkey-server", "valkey-server", "valkey-state.conf")
REDIS = Program("redis-server", "redis-server", "redis.conf")


class KeyValueServer(ServerProcess):
    """A server of one tier; `url` names no database, so `url + "/1"` is database 1."""

    def __init__(self, program: Program, directory: Path, maxmemory: str | None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory / "server.log")
        self._executable = find_program(program.name, program.package)
        # A copy of the shipped file: a server may be told to rewrite its own, as Sentinel does.
        self._configuration = directory / program.configuration
        shutil.copyfile(CONFIGURATIONS / program.configuration, self._configuration)
        self._maxmemory = maxmemory
        self.directory = directory

    @property
    def url(self) -> str:
        """Both clients read the scheme `redis`, also for Valkey."""
        return f"redis://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        overrides = ["--port", str(self.port), "--dir", str(self.directory)]
        overrides += ["--pidfile", str(self.directory / "server.pid")]
        if self._maxmemory is not None:
            overrides += ["--maxmemory", self._maxmemory]
        return [self._executable, str(self._configuration), *overrides]

    def answers(self) -> bool:
        try:
            information = self._ask("INFO everything")
        except OSError:
            return False
        return f"process_id:{self.pid}\r\n" in information and "loading:0\r\n" in information

    def flush(self) -> None:
        """Forget every key of every database."""
        self._ask("FLUSHALL")

    def _ask(self, command: str) -> str:
        with socket.create_connection((self.host, self.port), ANSWER_WITHIN) as connection:
            connection.sendall(command.encode() + b"\r\nQUIT\r\n")
            reply = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        if re.match(r"[+$]", reply) is None:
            raise OSError(reply)
        return reply


@contextmanager
def valkey_server(directory: Path, *, maxmemory: str | None = None) -> Iterator[KeyValueServer]:
    """The kv tier."""
    yield from _serve(VALKEY, directory, maxmemory)


@contextmanager
def valkey_state_server(directory: Path, *, maxmemory: str | None = None) -> Iterator[KeyValueServer]:
    """The instance of runtime state and durable loops."""
    yield from _serve(VALKEY_STATE, directory, maxmemory)


@contextmanager
def redis_server(directory: Path, *, maxmemory: str | None = None) -> Iterator[KeyValueServer]:
    """The cache tier."""
    yield from _serve(REDIS, directory, maxmemory)


def _serve(program: Program, directory: Path, maxmemory: str | None) -> Iterator[KeyValueServer]:
    server = KeyValueServer(program, directory, maxmemory)
    server.start_first()
    try:
        yield server
    finally:
        server.kill()
