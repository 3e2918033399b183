import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from redis import Redis
from redis.exceptions import TimeoutError as NoReply
from sqlalchemy import make_url

from shared.testing.servers import (
    KeyValueServer,
    PostgresServer,
    ServerMissing,
    process,
    redis_server,
    valkey_server,
    valkey_state_server,
)


def client_of(server: KeyValueServer) -> "Redis":
    return Redis.from_url(
        server.url + "/1", protocol=2, retry=None, socket_timeout=0.2, decode_responses=True
    )


@pytest.fixture
def kv(tmp_path: Path) -> Iterator[KeyValueServer]:
    with valkey_server(tmp_path / "kv") as server:
        yield server


class TestValkey:
    def test_runs_under_the_shipped_rules(self, kv: KeyValueServer) -> None:
        with client_of(kv) as client:
            settings = client.config_get("*")
        assert settings["maxmemory-policy"] == "noeviction"
        assert settings["maxmemory"] == str(256 * 1024 * 1024)
        assert settings["appendonly"] == "no"
        assert settings["save"] != ""

    def test_the_state_instance_runs_under_the_same_rules(self, tmp_path: Path) -> None:
        with valkey_state_server(tmp_path, maxmemory="8mb") as server, client_of(server) as client:
            settings = client.config_get("*")
        assert settings["maxmemory-policy"] == "noeviction"
        assert settings["maxmemory"] == str(8 * 1024 * 1024)
        assert settings["save"] != ""

    def test_listens_on_loopback_only(self, kv: KeyValueServer) -> None:
        with client_of(kv) as client:
            assert client.config_get("bind")["bind"] == "127.0.0.1 -::1"

    def test_keeps_port_and_data_across_stop_and_start(self, kv: KeyValueServer) -> None:
        port, first = kv.port, kv.pid
        with client_of(kv) as client:
            client.set("kept", "yes", ex=100)
        kv.stop()
        assert not kv.running
        kv.start()
        assert kv.port == port
        assert kv.pid != first
        with client_of(kv) as client:
            assert client.get("kept") == "yes"

    def test_loses_what_was_not_saved_when_killed(self, kv: KeyValueServer) -> None:
        with client_of(kv) as client:
            client.set("lost", "yes", ex=100)
        kv.kill()
        kv.start()
        with client_of(kv) as client:
            assert client.get("lost") is None

    def test_does_not_answer_while_paused(self, kv: KeyValueServer) -> None:
        with client_of(kv) as client:
            client.ping()
            kv.pause()
            with pytest.raises(NoReply):
                client.ping()
            kv.resume()
        with client_of(kv) as client:
            assert client.ping()

    def test_outlives_the_thread_that_started_it(self, kv: KeyValueServer) -> None:
        kv.stop()
        starter = threading.Thread(target=kv.start)
        starter.start()
        starter.join()
        with client_of(kv) as client:
            assert client.ping()

    def test_a_paused_server_can_be_stopped(self, kv: KeyValueServer) -> None:
        kv.pause()
        kv.stop()
        assert not kv.running


class TestRedis:
    def test_runs_under_the_shipped_rules(self, redis: KeyValueServer) -> None:
        with client_of(redis) as client:
            settings = client.config_get("*")
        assert settings["maxmemory-policy"] == "allkeys-lru"
        assert settings["maxmemory"] == str(128 * 1024 * 1024)
        assert settings["appendonly"] == "no"
        assert settings["save"] == ""

    def test_keeps_nothing_across_a_restart(self, tmp_path: Path) -> None:
        with redis_server(tmp_path) as server:
            with client_of(server) as client:
                client.set("gone", "yes", ex=100)
            server.stop()
            server.start()
            with client_of(server) as client:
                assert client.get("gone") is None


class TestPostgres:
    async def test_a_database_is_a_copy_of_its_template(self, postgres: PostgresServer) -> None:
        def fill(url: str) -> None:
            postgres.execute("CREATE TABLE node (id text)", database=make_url(url).database or "")

        postgres.add_template("with_a_table", fill)
        with postgres.database("with_a_table") as url:
            connection = await asyncpg.connect(url.replace("+asyncpg", ""))
            assert await connection.fetchval("SELECT count(*) FROM node") == 0
            await connection.close()

    async def test_a_dropped_database_takes_its_connections_along(self, postgres: PostgresServer) -> None:
        with postgres.database() as url:
            connection = await asyncpg.connect(url.replace("+asyncpg", ""))
        with pytest.raises(asyncpg.PostgresError):
            await connection.fetchval("SELECT 1")
        connection.terminate()

    async def test_keeps_port_and_data_across_a_crash(self, postgres: PostgresServer) -> None:
        port = postgres.port
        with postgres.database() as url:
            name = make_url(url).database or ""
            postgres.execute("CREATE TABLE kept (id text)", database=name)
            postgres.kill()
            postgres.start()
            assert postgres.port == port
            assert postgres.execute("SELECT count(*) FROM kept", database=name) == "0"
            postgres.stop()
            postgres.start()
            assert postgres.execute("SELECT count(*) FROM kept", database=name) == "0"

    async def test_no_session_answers_while_paused(self, postgres: PostgresServer) -> None:
        connection = await asyncpg.connect(postgres.url.replace("+asyncpg", ""))
        postgres.pause()
        question = asyncio.create_task(connection.fetchval("SELECT 1"))
        done, _ = await asyncio.wait([question], timeout=0.2)
        assert not done
        postgres.resume()
        assert await question == 1
        await connection.close()


class TestMissing:
    def test_names_the_package(self) -> None:
        with pytest.raises(ServerMissing, match="the tests need the Debian package valkey-server"):
            process.find_program("no-such-server", "valkey-server")
