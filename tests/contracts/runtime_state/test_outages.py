"""Case C26: a server that cannot answer is one typed refusal, in time, and nothing of the client leaks."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import redis.asyncio as raw_client

from shared.kernel.errors import Kind
from shared.runtime_state import (
    RedisRuntimeClient,
    RuntimeStateBatch,
    RuntimeStateCapacityExceeded,
    RuntimeStateUnavailable,
)
from shared.runtime_state.locations import ServerLocation
from shared.runtime_state.redis_backend import RedisRuntimeStateBackend
from shared.testing.servers import KeyValueServer, redis_server, valkey_state_server
from tests.contracts.runtime_state.subjects import DATABASE, eventually

DEADLINE = timedelta(milliseconds=400)
PREFIX = "outage:"


@pytest.fixture(scope="module", params=[valkey_state_server, redis_server], ids=["valkey", "redis"])
def own_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeyValueServer]:
    """A server that these tests may stop, freeze and fill."""
    with request.param(tmp_path_factory.mktemp("outage"), maxmemory="32mb") as server:
        yield server


@asynccontextmanager
async def connected(
    server: KeyValueServer, *, connections: int = 4, password: str | None = None
) -> AsyncIterator[RedisRuntimeClient]:
    location = ServerLocation(server.host, server.port, DATABASE, password=password)
    backend = RedisRuntimeStateBackend(location, deadline=DEADLINE, connections=connections)
    client = RedisRuntimeClient(backend, prefix=PREFIX)
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def administering(server: KeyValueServer) -> AsyncIterator[Any]:
    raw = raw_client.Redis.from_url(f"{server.url}/{DATABASE}", protocol=2)
    try:
        yield raw
    finally:
        await raw.flushall()
        await raw.aclose()


COMMANDS: dict[str, Callable[[RedisRuntimeClient], Awaitable[object]]] = {
    "ping": lambda state: state.ping(),
    "set": lambda state: state.set("k", "v"),
    "get": lambda state: state.get("k"),
    "incr": lambda state: state.incr("n"),
    "delete": lambda state: state.delete("k"),
    "expire": lambda state: state.expire("k", 9),
    "ttl": lambda state: state.ttl("k"),
    "hset": lambda state: state.hset("h", {"f": 1}),
    "hget": lambda state: state.hget("h", "f"),
    "hmget": lambda state: state.hmget("h", ["f"]),
    "hgetall": lambda state: state.hgetall("h"),
    "batch": lambda state: _filled(state).execute(),
}


def _filled(state: RedisRuntimeClient) -> RuntimeStateBatch:
    batch = state.batch()
    batch.set("k", "v")
    return batch


async def _saved(raw: Any) -> bool:
    return bool((await raw.info("persistence"))["rdb_last_bgsave_status"] == "ok")


async def refused(awaitable: Awaitable[object]) -> RuntimeStateUnavailable:
    with pytest.raises(RuntimeStateUnavailable) as caught:
        await awaitable
    assert type(caught.value).__module__ == "shared.runtime_state.contracts"
    assert caught.value.kind is Kind.UNAVAILABLE
    assert caught.value.retry_after
    return caught.value


class TestUnreachable:
    async def test_every_command_says_so_and_works_again_afterwards(self, own_server: KeyValueServer) -> None:
        async with connected(own_server) as state:
            await state.ping()
            own_server.stop()
            try:
                for command in COMMANDS.values():
                    error = await refused(command(state))
                    assert error.code == "RUNTIME_STATE_UNAVAILABLE"
                assert (await state.stats()).active_keys is None
            finally:
                own_server.start()
            assert await state.ping()

    async def test_a_frozen_server_is_given_up_in_time_and_the_connections_recover(
        self, own_server: KeyValueServer
    ) -> None:
        now = asyncio.get_running_loop().time
        async with connected(own_server) as state:
            await state.set("n", 0, ex=600)
            own_server.pause()
            try:
                began = now()
                errors = await asyncio.gather(*(refused(state.incr("n")) for _ in range(40)))
                assert len(errors) == 40
                assert now() - began < 10 * DEADLINE.total_seconds()
            finally:
                own_server.resume()

            async def serves_all() -> bool:
                answers = await asyncio.gather(*(state.get("n") for _ in range(20)), return_exceptions=True)
                return all(isinstance(answer, bytes) for answer in answers)

            await eventually(serves_all)
            # Nothing is sent twice: at most what the four connections had under way was counted.
            assert int(await state.get("n") or 0) <= 4

    async def test_cancelled_callers_leave_connections_usable_and_answers_unmixed(
        self, own_server: KeyValueServer
    ) -> None:
        async with connected(own_server, connections=2) as state:
            await asyncio.gather(*(state.set(f"k{n}", n, ex=60) for n in range(10)))
            for turns in range(30):
                tasks = [asyncio.create_task(state.get(f"k{n}")) for n in range(10)]
                for _ in range(turns):
                    await asyncio.sleep(0)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            answers = await asyncio.gather(*(state.get(f"k{n}") for n in range(10)))
            assert answers == [b"%d" % n for n in range(10)]


class TestRefusingServer:
    async def test_a_full_server_is_a_matter_of_capacity(self, own_server: KeyValueServer) -> None:
        async with connected(own_server) as state, administering(own_server) as raw:
            await state.set("kept", "v")
            policy = (await raw.config_get("maxmemory-policy"))["maxmemory-policy"]
            await raw.config_set("maxmemory-policy", "noeviction")
            await raw.config_set("maxmemory", "1mb")
            try:
                for write in ("set", "hset", "incr", "batch"):
                    error = await refused(COMMANDS[write](state))
                    assert isinstance(error, RuntimeStateCapacityExceeded)
                    assert error.code == "RUNTIME_STATE_CAPACITY_EXCEEDED"
                assert (await state.stats()).capacity_rejections == 4
                assert await state.get("kept") == b"v"
                batch = state.batch()
                batch.delete("kept")
                assert await batch.execute() == [1]
            finally:
                await raw.config_set("maxmemory", "32mb")
                await raw.config_set("maxmemory-policy", policy)

    async def test_a_batch_refused_for_memory_has_done_nothing(self, own_server: KeyValueServer) -> None:
        async with connected(own_server) as state, administering(own_server) as raw:
            await state.set("old", "v", ex=600)
            policy = (await raw.config_get("maxmemory-policy"))["maxmemory-policy"]
            await raw.config_set("maxmemory-policy", "noeviction")
            await raw.config_set("maxmemory", "1mb")
            try:
                batch = state.batch()
                batch.set("new", "v")
                batch.delete("old")
                await refused(batch.execute())
                assert await state.get("old") == b"v"
                assert await state.get("new") is None
            finally:
                await raw.config_set("maxmemory", "32mb")
                await raw.config_set("maxmemory-policy", policy)

    async def test_a_server_that_cannot_save_refuses_writes_only(self, own_server: KeyValueServer) -> None:
        async with connected(own_server) as state, administering(own_server) as raw:
            await state.set("k", "v")
            before = (await raw.config_get("save"))["save"]
            await raw.config_set("save", "3600 1")
            dump = own_server.directory / "dump.rdb"
            dump.unlink(missing_ok=True)
            (dump / "in-the-way").mkdir(parents=True)
            try:
                await raw.bgsave()

                async def saving_failed() -> bool:
                    return bool((await raw.info("persistence"))["rdb_last_bgsave_status"] == "err")

                await eventually(saving_failed)
                error = await refused(state.set("k", "w"))
                assert error.code == "RUNTIME_STATE_UNAVAILABLE"
                assert await state.get("k") == b"v"
            finally:
                shutil.rmtree(dump)
                await raw.bgsave()
                await eventually(lambda: _saved(raw))
                await raw.config_set("save", before)

    async def test_a_wrong_or_missing_password_is_unavailable_and_stays_secret(
        self, own_server: KeyValueServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with administering(own_server) as raw:
            await raw.config_set("requirepass", "right-password")
            try:
                for password in (None, "planted-secret"):
                    async with connected(own_server, password=password) as state:
                        error = await refused(state.ping())
                        assert "planted-secret" not in f"{error!r} {error.__cause__!r} {caplog.text}"
                async with connected(own_server, password="right-password") as state:
                    assert await state.ping()
            finally:
                await raw.execute_command("AUTH", "right-password")
                await raw.config_set("requirepass", "")

    async def test_a_replica_refuses_writes_and_new_connections_follow(
        self, own_server: KeyValueServer
    ) -> None:
        async with connected(own_server) as state, administering(own_server) as raw:
            await state.set("k", "v")
            await raw.execute_command("REPLICAOF", "127.0.0.1", "1")
            try:
                error = await refused(state.set("k", "w"))
                assert error.code == "RUNTIME_STATE_UNAVAILABLE"
            finally:
                await raw.execute_command("REPLICAOF", "NO", "ONE")
            assert await state.set("k", "w")

    async def test_garbage_is_unavailable(self) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()

        listener = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        async with listener:
            backend = RedisRuntimeStateBackend(ServerLocation("127.0.0.1", port), deadline=DEADLINE)
            client = RedisRuntimeClient(backend, prefix=PREFIX)
            await refused(client.get("k"))
            await client.aclose()


async def test_c27_figures_name_no_key_no_value_and_no_address(own_server: KeyValueServer) -> None:
    async with connected(own_server) as state, administering(own_server):
        await state.set("planted-key", "planted-value", ex=60)
        text = json.dumps([str(await state.stats())])
        for secret in ("planted", str(own_server.port), own_server.host, PREFIX):
            assert secret not in text
