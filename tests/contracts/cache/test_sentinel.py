"""A master that moves: found by the sentinels before every connect."""

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.cache import SentinelSettings, Tier, TierUnavailable
from shared.testing.servers import KeyValueServer
from shared.testing.servers.key_value import REDIS, VALKEY, Program
from tests.contracts.cache.subjects import eventually, opened

SERVICE = "tier"


class ReplicatedServer(KeyValueServer):
    """A server with a configuration file of its own: a sentinel makes it rewrite the one it started from."""

    def __init__(self, program: Program, directory: Path) -> None:
        super().__init__(program, directory, None)
        self._configuration = Path(shutil.copy(self._configuration, directory / "server.conf"))


class SentinelServer(KeyValueServer):
    """A sentinel that watches one master."""

    master_port = 0

    def command(self) -> list[str]:
        file = self.directory / "sentinel.conf"
        file.write_text(
            f"bind 127.0.0.1\nport {self.port}\ndir {self.directory}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.master_port} 1\n"
            f"sentinel down-after-milliseconds {SERVICE} 500\n"
            f"sentinel failover-timeout {SERVICE} 2000\n",
            encoding="utf-8",
        )
        return [self._executable, str(file), "--sentinel"]

    def _ask(self, command: str) -> str:
        # A sentinel knows no QUIT: the length says where the reply ends.
        with socket.create_connection((self.host, self.port), 5.0) as connection:
            connection.sendall(command.encode() + b"\r\n")
            stream = connection.makefile("rb")
            head = stream.readline().decode()
            return stream.read(int(head[1:])).decode() if head.startswith("$") else head

    def answers(self) -> bool:
        try:
            return "sentinel_masters:1" in self._ask("INFO sentinel")
        except OSError:
            return False


@contextmanager
def _running(program: Program, directory: Path) -> Iterator[KeyValueServer]:
    server = ReplicatedServer(program, directory)
    server.start_first()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def replicated(tier: Tier, tmp_path: Path) -> Iterator[tuple[KeyValueServer, KeyValueServer, SentinelServer]]:
    program = VALKEY if tier is Tier.KV else REDIS
    with _running(program, tmp_path / "one") as one, _running(program, tmp_path / "two") as two:
        one._ask("CONFIG SET repl-diskless-sync-delay 0")
        two._ask(f"REPLICAOF 127.0.0.1 {one.port}")
        # A sentinel that meets the master before it has a replica looks again only after ten seconds.
        deadline = time.monotonic() + 30
        while "master_link_status:up" not in two._ask("INFO replication"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        sentinel = SentinelServer(program, tmp_path / "sentinel", None)
        sentinel.master_port = one.port
        sentinel.start_first()
        try:
            yield one, two, sentinel
        finally:
            sentinel.kill()


@pytest.mark.parametrize("tier", [Tier.KV, pytest.param(Tier.CACHE, marks=pytest.mark.soak)])
async def test_follows_the_master(
    tier: Tier, replicated: tuple[KeyValueServer, KeyValueServer, SentinelServer]
) -> None:
    one, two, sentinel = replicated
    settings = SentinelSettings(addresses=["127.0.0.1:1", f"127.0.0.1:{sentinel.port}"], service=SERVICE)
    async with opened("redis://unused.example", tier, sentinel=settings) as subject:
        key = subject.families.values.key(id=1)
        await subject.cache.set_json(key, "before", ttl_seconds=600)
        assert f"routeloom:tests:{tier}" in one._ask("CLIENT LIST")
        await eventually(lambda: "slaves=1" in sentinel._ask("INFO sentinel"))
        await eventually(lambda: sentinel._ask(f"SENTINEL FAILOVER {SERVICE}").startswith("+OK"))

        async def written_to_the_new_master() -> bool:
            try:
                await subject.cache.set_json(key, "after", ttl_seconds=600)
            except TierUnavailable:
                return False
            return f"routeloom:tests:{tier}" in two._ask("CLIENT LIST")

        await eventually(written_to_the_new_master, within=30)
        assert await subject.cache.get_json(key) == "after"
