"""The server did it and the reply was lost: the caller is told, and nothing is repeated."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from redis.exceptions import ConnectionError as ClientConnectionError
from redis.exceptions import TimeoutError as ClientTimeoutError
from sqlalchemy import event as database_events

from shared.database import DatabaseSettings, DatabaseUnavailable, open_database
from shared.durable import Dedupe, LoopContext, QueuedJob
from shared.durable.client import ConnectionLimits, open_client
from shared.testing.fault_proxy import fault_proxy
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import RedisBackend, SqlBackend, event

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from shared.testing.fault_proxy import FaultProxy
    from shared.testing.servers import KeyValueServer


class Behind:
    """A back end whose next reply can be lost, and the same one on a sound connection."""

    def __init__(self, proxy: FaultProxy, faulty: RedisBackend, sound: RedisBackend) -> None:
        self.proxy, self.faulty, self.sound = proxy, faulty, sound

    @asynccontextmanager
    async def losing_the_reply(self) -> AsyncIterator[None]:
        """The request passes, the reply does not; the error is the client's own."""
        await self.faulty.raw.ping()  # the connection stands; only the reply is lost
        self.proxy.faults.cut_reply_after = 0
        with pytest.raises(ClientConnectionError):
            yield
        self.proxy.faults.cut_reply_after = None


@pytest.fixture(params=["valkey_state", "redis"])
def server(request: pytest.FixtureRequest) -> KeyValueServer:
    found: KeyValueServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def behind(server: KeyValueServer) -> AsyncIterator[Behind]:
    async with fault_proxy(server.port) as proxy:
        faulty = open_client(f"{proxy.url}/1", ConnectionLimits(connect_timeout=20, command_timeout=20))
        sound = open_client(f"{server.url}/1")
        backend = RedisBackend("faulty", faulty)
        try:
            yield Behind(proxy, backend, RedisBackend("sound", sound, backend.prefix))
        finally:
            await faulty.aclose()
            await sound.aclose()


class TestLostReply:
    async def test_of_save_reload_and_compare_the_revision(self, behind: Behind) -> None:
        async with behind.losing_the_reply():
            await behind.faulty.checkpoints().save(LoopContext("run-1", cursor={"node": 1}), 0)
        found = await behind.faulty.checkpoints().load("run-1")
        assert found == LoopContext("run-1", cursor={"node": 1}, revision=1)

    async def test_of_enqueue_the_same_id_again_is_one_job(self, behind: Behind) -> None:
        async with behind.losing_the_reply():
            await behind.faulty.queue().enqueue(QueuedJob("job-1", "step"))
        assert not (await behind.faulty.queue().enqueue(QueuedJob("job-1", "step"))).created
        assert await behind.sound.places() == {"job-1": ["pending"]}

    async def test_of_enqueue_the_same_key_again_is_one_job(self, behind: Behind) -> None:
        key = Dedupe("webhook-7", timedelta(hours=1))
        async with behind.losing_the_reply():
            await behind.faulty.queue().enqueue(QueuedJob("job-1", "step"), dedupe=key)
        repeated = await behind.faulty.queue().enqueue(QueuedJob("job-2", "step"), dedupe=key)
        assert (repeated.job_id, repeated.created) == ("job-1", False)

    async def test_of_lease_the_job_comes_back(self, behind: Behind) -> None:
        queue = behind.faulty.queue(lease_seconds=0.2)
        await queue.enqueue(QueuedJob("job-1", "step"))
        async with behind.losing_the_reply():
            await queue.lease("worker-1")
        assert await behind.sound.places() == {"job-1": ["leased"]}
        again = await behind.sound.queue().lease("worker-1", wait=timedelta(seconds=20))
        assert again is not None
        assert again.attempt == 2

    async def test_of_acknowledge_the_state_tells_that_it_is_done(self, behind: Behind) -> None:
        queue = behind.faulty.queue()
        await queue.enqueue(QueuedJob("job-1", "step"))
        lease = await queue.lease("worker-1")
        assert lease is not None
        async with behind.losing_the_reply():
            await queue.acknowledge(lease)
        assert await queue.state("job-1") is None

    async def test_of_publish_the_same_number_again_is_one_event(self, behind: Behind) -> None:
        async with behind.losing_the_reply():
            await behind.faulty.events().publish(event(1), sequence=1)
        assert await behind.faulty.events().publish(event(1), sequence=1) == "0-1"
        assert len(await behind.sound.events().read("run-1")) == 1


class TestSilentServer:
    async def test_a_time_out_is_reported_once_and_repeated_never(self, server: KeyValueServer) -> None:
        async with fault_proxy(server.port) as proxy:
            client = open_client(f"{proxy.url}/1", ConnectionLimits(connect_timeout=20, command_timeout=0.3))
            sound = open_client(f"{server.url}/1")
            backend = RedisBackend("silent", client)
            try:
                await backend.raw.ping()
                proxy.pause()
                with pytest.raises(ClientTimeoutError):
                    await backend.events().publish(event(1))
                proxy.resume()
                await wait_until(lambda: proxy.open_connections == 0)
                seen = await RedisBackend("sound", sound, backend.prefix).events().read("run-1")
                assert len(seen) <= 1
            finally:
                await client.aclose()
                await sound.aclose()


class TestLostCommit:
    async def test_reload_and_compare_the_revision(self, durable_postgres: str, postgres: Any) -> None:
        async with fault_proxy(postgres.port) as proxy:
            url = durable_postgres.replace(f":{postgres.port}/", f":{proxy.port}/")
            database = open_database(DatabaseSettings.model_validate({"url": url}))
            backend = SqlBackend("postgres", database)

            def lose_the_reply(_: object) -> None:
                proxy.faults.cut_reply_after = 0

            try:
                await backend.checkpoints().save(LoopContext("run-1"), 0)
                database_events.listen(database.writer.sync_engine, "commit", lose_the_reply, once=True)
                with pytest.raises(DatabaseUnavailable):
                    await backend.checkpoints().save(LoopContext("run-1", cursor={"node": 1}), 1)
                proxy.faults.cut_reply_after = None
                found = await backend.checkpoints().load("run-1")
                assert found == LoopContext("run-1", cursor={"node": 1}, revision=2)
            finally:
                await database.close()
