"""The adapters work with any client that has the seven methods, and own none of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from valkey.asyncio import Valkey

from shared.durable import (
    PrefixRefusedError,
    QueuedJob,
    QueuePolicy,
    RedisCheckpointStore,
    RedisConfig,
    RedisContextStore,
    RedisEventPublisher,
    RedisPayloadError,
    RedisQueueBackend,
    RedisRunRepository,
)
from shared.durable.client import (
    ConnectionLimits,
    RedisDoorbell,
    check_slots,
    open_client,
    open_cluster_client,
)
from tests.contracts.durable.backends import RedisBackend, context, event, run_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from shared.testing.servers import KeyValueServer

METHODS = {"eval", "get", "mget", "zrevrange", "xadd", "xrange"}


class NarrowClient:
    """Has the methods of the protocol and nothing else, and remembers whether it was closed."""

    def __init__(self, client: Any) -> None:
        self.closed = False
        for name in METHODS:
            setattr(self, name, getattr(client, name))

    async def aclose(self) -> None:
        self.closed = True


class OddClient:
    """Answers something else than a server would."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def __getattr__(self, name: str) -> Any:
        async def answer(*_: object, **__: object) -> object:
            if isinstance(self._answer, BaseException):
                raise self._answer
            return self._answer

        return answer


@pytest.fixture(params=["redis-py", "redis-py decoding", "valkey-py", "valkey-py decoding"])
async def client(request: pytest.FixtureRequest, valkey_state: KeyValueServer) -> AsyncIterator[NarrowClient]:
    library: Any = Valkey if request.param.startswith("valkey") else Redis
    full = library.from_url(f"{valkey_state.url}/1", decode_responses="decoding" in request.param)
    yield NarrowClient(full)
    await full.aclose()


class TestAnyClient:
    async def test_serves_all_five_and_is_never_closed(self, client: Any) -> None:
        backend = RedisBackend("valkey", client)
        queue, store, runs = backend.queue(), backend.checkpoints(), backend.runs()
        await queue.enqueue(QueuedJob("job-1", "step", {"text": "早"}))
        lease = await queue.lease("worker-1")
        assert lease is not None
        await store.save(context(), 0, lease=lease)
        assert await store.load("run-1") == context(revision=1)
        await runs.create(run_record())
        assert list(await runs.list_recent()) == [run_record()]
        await backend.events().publish(event(1))
        assert [found.event for found in (await backend.events().page("run-1")).events] == [event(1)]
        await backend.contexts().append("run-1", {"a": 1}, 0)
        assert await backend.contexts().load("run-1") is not None
        await queue.release(lease, error="failed")
        assert (await queue.counts()).pending == 1
        assert not client.closed

    async def test_damage_is_the_same_error_whether_the_client_decodes_or_not(
        self, client: Any, valkey_state: KeyValueServer
    ) -> None:
        backend = RedisBackend("valkey", client)
        await backend.checkpoints().save(context(), 0)
        other = Redis.from_url(f"{valkey_state.url}/1")
        await other.set(f"{backend.prefix}:checkpoints:run-1", b"\xff\xfe")
        await other.aclose()
        with pytest.raises(RedisPayloadError):
            await backend.checkpoints().load("run-1")
        await backend.runs().create(run_record())
        assert await backend.runs().get("run-1") is not None


class TestOddAnswers:
    @pytest.mark.parametrize(
        "answer", [None, 7, b"OK", [], [b"what"], [None], [b"saved\xff"], {}, [[b"saved"]]]
    )
    async def test_are_payload_errors(self, answer: object) -> None:
        backend = RedisBackend("odd", OddClient(answer))
        for attempt in (
            backend.checkpoints().save(context(), 0),
            backend.queue().enqueue(QueuedJob("job-1", "step")),
            backend.queue().lease("worker-1"),
            backend.runs().create(run_record()),
            backend.contexts().append("run-1", {}, 0),
        ):
            with pytest.raises(RedisPayloadError):
                await attempt

    @pytest.mark.parametrize("answer", [7, [7], [(b"0-1", {})], [(b"0-1", {b"event": 3})], [(b"x",)]])
    async def test_of_a_stream_too(self, answer: object) -> None:
        with pytest.raises(RedisPayloadError):
            await RedisBackend("odd", OddClient(answer)).events().read("run-1")

    @pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError(), RuntimeError("unhandled")])
    async def test_the_clients_own_errors_pass_unchanged(self, error: Exception) -> None:
        backend = RedisBackend("odd", OddClient(error))
        with pytest.raises(type(error)) as passed:
            await backend.checkpoints().save(context(), 0)
        assert passed.value is error


class TestStartUp:
    async def test_a_cluster_refuses_a_prefix_without_a_tag_and_says_why(self, cluster_url: str) -> None:
        client = open_cluster_client(cluster_url)
        try:
            await check_slots(client, RedisConfig("routeloom:{durable}"))
            with pytest.raises(PrefixRefusedError, match="no hash tag"):
                await check_slots(client, RedisConfig())
            with pytest.raises(PrefixRefusedError, match="empty hash tag"):
                await check_slots(client, RedisConfig("routeloom:{}"))
        finally:
            await client.aclose()

    async def test_a_single_server_takes_any_prefix(self, valkey_state: KeyValueServer) -> None:
        client = open_client(valkey_state.url)
        try:
            await check_slots(client, RedisConfig())
        finally:
            await client.aclose()

    @pytest.mark.parametrize("url", ["", "localhost", "http://localhost", "redis://", "memory://lite"])
    def test_refuses_what_is_no_address_of_a_server(self, url: str) -> None:
        with pytest.raises(ValueError, match="redis://"):
            open_client(url)

    def test_the_constructors_are_the_documented_ones(self) -> None:
        client: Any = OddClient(None)
        config = RedisConfig("p", 300, 100)
        RedisCheckpointStore(client=client, config=config, codec=None)
        RedisQueueBackend(client=client, config=config, codec=None)
        RedisRunRepository(client=client, config=config, codec=None)
        RedisEventPublisher(client=client, config=config, checkpoint_codec=None)
        assert RedisContextStore.__init__.__annotations__.keys() >= {"client", "policy", "config"}


class TestCluster:
    async def test_a_checkpoint_needs_no_tag_because_it_touches_one_key(self, cluster_url: str) -> None:
        client = open_cluster_client(cluster_url)
        try:
            store = RedisCheckpointStore(client, RedisConfig("untagged"))
            await store.delete("run-1")
            assert await store.save(context(), 0) == 1
            assert await store.load("run-1") == context(revision=1)
        finally:
            await client.aclose()

    async def test_the_librarys_own_cluster_client_serves_too(self, cluster_url: str) -> None:
        client: Any = RedisCluster.from_url(cluster_url)
        backend = RedisBackend("cluster", client)
        await client.initialize()
        await backend.queue().enqueue(QueuedJob("job-1", "step"))
        assert await backend.queue().lease("worker-1") is not None
        await client.aclose()


class TestScripts:
    async def test_a_flush_of_the_script_cache_between_any_two_calls_changes_nothing(
        self, valkey_state: KeyValueServer
    ) -> None:
        client: Any = open_client(f"{valkey_state.url}/1")
        backend = RedisBackend("valkey", client)
        queue = backend.queue()
        for number in range(5):
            await queue.enqueue(QueuedJob(f"job-{number}", "step"))
            await client.script_flush()
            lease = await queue.lease("worker-1")
            assert lease is not None
            assert lease.job.job_id == f"job-{number}"
            await client.script_flush()
            await queue.acknowledge(lease)
        await client.aclose()


class TestDoorbell:
    async def test_wakes_a_worker_of_another_connection(self, valkey_state: KeyValueServer) -> None:
        url = f"{valkey_state.url}/1"
        producer, consumer = open_client(url), open_client(url)
        backend = RedisBackend("valkey", producer)
        config = RedisConfig(backend.prefix)
        bell = RedisDoorbell(url, config)
        policy = QueuePolicy(doorbell=bell)
        try:
            waiting = asyncio.create_task(
                RedisQueueBackend(consumer, config, policy=policy).lease(
                    "worker-1", wait=timedelta(seconds=14)
                )
            )
            while not await _somebody_blocks(producer):
                await asyncio.sleep(0.01)
            await RedisQueueBackend(producer, config, policy=policy).enqueue(QueuedJob("job-1", "step"))
            lease = await waiting
            assert lease is not None
        finally:
            await bell.aclose()
            await producer.aclose()
            await consumer.aclose()

    async def test_waiting_longer_than_the_deadline_of_a_command_is_no_error(
        self, valkey_state: KeyValueServer
    ) -> None:
        url = f"{valkey_state.url}/1"
        client = open_client(url, ConnectionLimits(command_timeout=0.2))
        backend = RedisBackend("valkey", client)
        bell = RedisDoorbell(url, RedisConfig(backend.prefix))
        try:
            queue = backend.queue(QueuePolicy(doorbell=bell))
            clock = asyncio.get_running_loop().time
            began = clock()
            assert await queue.lease("worker-1", wait=timedelta(seconds=0.6)) is None
            assert clock() - began >= 0.6
        finally:
            await bell.aclose()
            await client.aclose()


async def _somebody_blocks(client: Any) -> bool:
    return int((await client.info("clients"))["blocked_clients"]) > 0
