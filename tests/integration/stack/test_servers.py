"""The shipped configurations on real servers: policies, persistence, users, and the append-only trap."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.testing.waiting import wait_until
from tests.integration.stack.kv import ListedServer, listed_server
from tests.stack.engine import COMPOSE

POLICIES = {
    "valkey": {
        "maxmemory-policy": "noeviction",
        "appendonly": "no",
        "save": "3600 1 300 100 60 10000",
        "stop-writes-on-bgsave-error": "yes",
    },
    "valkey-state": {
        "maxmemory-policy": "noeviction",
        "appendonly": "no",
        "save": "3600 1 300 100 60 10000",
    },
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ListedServer]]:
    place = tmp_path_factory.mktemp("listed")
    with (
        listed_server("valkey", place / "valkey") as valkey,
        listed_server("valkey-state", place / "state") as state,
        listed_server("redis", place / "redis") as redis,
    ):
        yield {"valkey": valkey, "valkey-state": state, "redis": redis}


@pytest.mark.parametrize("name", POLICIES)
def test_a_valkey_keeps_everything_and_snapshots(servers: dict[str, ListedServer], name: str) -> None:
    for setting, value in POLICIES[name].items():
        assert servers[name].say("maintenance", "config", "get", setting).text.splitlines() == [
            setting,
            value,
        ]


def test_redis_evicts_the_coldest_and_keeps_nothing(servers: dict[str, ListedServer]) -> None:
    memory = servers["redis"].say("operator", "info", "memory").text
    assert "maxmemory_policy:allkeys-lru" in memory
    assert "maxmemory:0\n" not in memory.replace("\r", "")
    servers["redis"].say("control", "set", "ds:a:1", "x", "ex", "60", database=1)
    servers["redis"].stop()
    servers["redis"].start()
    assert servers["redis"].say("operator", "info", "keyspace").text.strip() == "# Keyspace"


@pytest.mark.parametrize("words", ["flushdb", "flushall", "swapdb 0 1", "config set maxmemory 0", "shutdown"])
@pytest.mark.parametrize("name", ["valkey", "valkey-state"])
def test_nobody_may_destroy_the_only_copy(servers: dict[str, ListedServer], name: str, words: str) -> None:
    server = servers[name]
    for user in server.passwords.by_server[name]:
        if user == "maintenance" and words.startswith("config"):
            continue
        assert "NOPERM" in server.say(user, *words.split()).text, user


def test_the_operator_may_forget_one_cache(servers: dict[str, ListedServer]) -> None:
    assert servers["redis"].say("operator", "flushdb", database=1).text == "OK"
    assert "NOPERM" in servers["redis"].say("operator", "flushall").text
    assert "NOPERM" in servers["redis"].say("control", "flushdb").text


def test_strangers_and_the_default_user_are_kept_out(servers: dict[str, ListedServer]) -> None:
    for server in servers.values():
        program = server.executable.replace("server", "cli")
        done = subprocess.run(
            [program, "-p", str(server.port), "ping"], capture_output=True, text=True, check=False
        )
        assert "NOAUTH" in done.stdout


@pytest.mark.parametrize(
    ("name", "user", "own", "others"),
    [
        ("valkey", "control", "probe:job:x", "oauth:code:x"),
        ("valkey", "auth", "oauth:code:x", "probe:job:x"),
        ("redis", "control", "ds:n:1", "reg:v1:asn:1"),
        ("redis", "registry", "reg:v1:asn:1", "ds:n:1"),
        ("valkey-state", "control", "routeloom:x", "other:x"),
    ],
)
def test_a_service_reaches_its_own_keys_alone(
    servers: dict[str, ListedServer], name: str, user: str, own: str, others: str
) -> None:
    server = servers[name]
    assert server.say(user, "set", own, "1", "ex", "30").text == "OK"
    assert "NOPERM" in server.say(user, "set", others, "1", "ex", "30").text
    assert "NOPERM" in server.say(user, "get", others).text


class TestTheAppendOnlyTrap:
    @pytest.fixture
    def switched(self, tmp_path: Path) -> Path:
        """The shipped file with the one line changed, as somebody would do it."""
        file = tmp_path / "valkey.conf"
        shutil.copyfile(COMPOSE / "valkey.conf", file)
        file.write_text(file.read_text().replace("appendonly no", "appendonly yes"))
        return file

    def started(self, server: ListedServer) -> subprocess.CompletedProcess[str]:
        """With the shipped start, which the container finds before the server's own."""
        program = COMPOSE / "cli" / "valkey-server"
        return subprocess.run(
            ["sh", str(program), *server.arguments()], capture_output=True, text=True, check=False, timeout=30
        )

    def test_the_shipped_start_refuses_it_and_the_dump_stays(self, tmp_path: Path, switched: Path) -> None:
        with listed_server("valkey", tmp_path / "data") as server:
            server.say("cap", "hset", "settings:rsw_keypair", "key", "the only one")
            server.stop()
            before = (server.directory / "dump.rdb").read_bytes()
            server.configuration = switched
            done = self.started(server)
            assert done.returncode == 78
            assert "would begin empty and replace it" in done.stderr
            assert (server.directory / "dump.rdb").read_bytes() == before

    async def test_the_safe_order_keeps_everything(self, tmp_path: Path, switched: Path) -> None:
        with listed_server("valkey", tmp_path / "data") as server:
            server.say("cap", "hset", "settings:rsw_keypair", "key", "the only one")
            assert server.say("maintenance", "config", "set", "appendonly", "yes").text == "OK"

            def rewritten() -> bool:
                told = server.say("operator", "info", "persistence").text.replace("\r", "").splitlines()
                return {"aof_last_bgrewrite_status:ok", "aof_rewrite_in_progress:0"} <= set(told) and any(
                    (server.directory / "appendonlydir").glob("*.manifest")
                )

            await wait_until(rewritten)
            server.stop()
            server.configuration = switched
            server.start()
            assert server.say("cap", "hget", "settings:rsw_keypair", "key").text == "the only one"

    def test_without_the_shipped_start_it_is_what_the_runbook_says(
        self, tmp_path: Path, switched: Path
    ) -> None:
        """The reproduction: an empty server beside a dump that is still there, for now."""
        with listed_server("valkey", tmp_path / "data") as server:
            server.say("cap", "hset", "settings:rsw_keypair", "key", "the only one")
            server.stop()
            server.configuration = switched
            server.start()
            assert server.say("operator", "info", "keyspace").text.strip() == "# Keyspace"
