"""Clients reconnect silently and lose messages; the hub says so, each time and once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from shared.cache import (
    Interrupted,
    LogPolicy,
    LogTarget,
    Message,
    OutcomeUnknown,
    Resync,
    ResyncReason,
    Subscription,
    Tier,
    TierUnavailable,
    WhenFull,
)
from shared.testing.fault_proxy import fault_proxy
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.subjects import Subject, eventually, opened

QUICK = {"heartbeat": timedelta(seconds=0.2), "heartbeat_reply_within": timedelta(seconds=0.2)}


@asynccontextmanager
async def listening(url: str, tier: Tier, **changes: Any) -> AsyncIterator[tuple[Subject, Subscription]]:
    async with (
        opened(url, tier, **(QUICK | changes)) as subject,
        subject.cache.subscribe(subject.families.channels.key(id=1)) as subscription,
    ):
        yield subject, subscription


async def resynchronised(subscription: Subscription) -> Resync:
    """The next word to read again; what comes before it says that the connection is down."""
    async with asyncio.timeout(10):
        while True:
            event = await anext(subscription)
            if isinstance(event, Resync):
                return event
            assert isinstance(event, Interrupted)


async def test_a_killed_connection_is_made_again_and_the_subscriber_told_once(
    server: KeyValueServer, tier: Tier
) -> None:
    async with listening(server.url, tier) as (subject, subscription):
        await subject.server.open()
        for epoch in (2, 3, 4):
            await subject.ask("CLIENT", "KILL", "TYPE", "pubsub")
            told = await resynchronised(subscription)
            assert (told.epoch, told.reason) == (epoch, ResyncReason.RECONNECTED)
            assert subscription.epoch == epoch
            await subject.cache.publish(subscription.key, epoch)
            assert await anext(subscription) == Message(epoch)


async def test_a_frozen_server_is_noticed_and_its_return_as_well(server: KeyValueServer, tier: Tier) -> None:
    async with listening(server.url, tier) as (subject, subscription):
        server.pause()
        async with asyncio.timeout(4):
            assert isinstance(await anext(subscription), Interrupted)
        server.resume()
        await resynchronised(subscription)
        await eventually(lambda: published(subject, subscription))
        assert await anext(subscription) == Message("after")


async def published(subject: Subject, subscription: Subscription) -> bool:
    try:
        return await subject.cache.publish(subscription.key, "after") == 1
    except TierUnavailable:
        return False


async def test_a_restarted_server_is_found_again(server: KeyValueServer, tier: Tier) -> None:
    async with listening(server.url, tier) as (subject, subscription):
        for end in (server.kill, server.stop):
            await asyncio.to_thread(end)
            assert isinstance(await anext(subscription), Interrupted)
            await asyncio.to_thread(server.start)
            await resynchronised(subscription)
        await eventually(lambda: published(subject, subscription))
        assert await anext(subscription) == Message("after")


async def test_a_server_killed_five_times_is_followed_every_time(server: KeyValueServer, tier: Tier) -> None:
    """However short it lives: the loop that reads is still there afterwards, and says so."""
    async with listening(server.url, tier) as (subject, subscription):
        for _ in range(5):
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        await eventually(lambda: published(subject, subscription))
        async with asyncio.timeout(10):
            while await anext(subscription) != Message("after"):
                continue


async def test_silence_is_normal(server: KeyValueServer, tier: Tier) -> None:
    """Some clients end an idle subscriber after a few seconds."""
    heartbeat = timedelta(milliseconds=20)
    async with listening(server.url, tier, heartbeat=heartbeat) as (subject, subscription):
        await subject.server.open()

        async def pings() -> int:
            stats = (await subject.ask("INFO", "commandstats")).decode()
            line = next((line for line in stats.splitlines() if line.startswith("cmdstat_ping:")), "calls=0,")
            return int(line.partition("calls=")[2].partition(",")[0])

        before = await pings()

        async def three_more() -> bool:
            return await pings() >= before + 3

        await eventually(three_more)
        assert subject.recorder.connections == 1
        await subject.cache.publish(subscription.key, "still here")
        assert await anext(subscription) == Message("still here")


@pytest.mark.parametrize(
    "garbage", [b"?bad\r\n", b"*3\r\n$7\r\nstrange\r\n$1\r\na\r\n$1\r\nb\r\n", b"-ERR no\r\n"]
)
async def test_garbage_in_the_stream_costs_one_connection_and_no_time(
    server: KeyValueServer, tier: Tier, garbage: bytes
) -> None:
    async with fault_proxy(server.port) as proxy, listening(proxy.url, tier) as (subject, subscription):
        proxy.faults.inject_reply = garbage
        cpu = time.process_time()
        await resynchronised(subscription)
        assert time.process_time() - cpu < 2, "an undecodable reply is not read again and again"
        assert subject.recorder.connections == 2


async def test_a_reader_of_a_log_goes_on_where_it_was(server: KeyValueServer, tier: Tier) -> None:
    """The connection is killed in mid-stream; the reader reads the list again from its last number."""
    async with opened(server.url, tier, **QUICK) as subject:
        await subject.server.open()
        guard = subject.families.values.key(id="job")
        await subject.cache.set_json(guard, 1, ttl_seconds=60)
        target = LogTarget(subject.families.logs(1000).key(id=1), guard, subject.families.channels.key(id=1))
        lines = 150

        async def write() -> None:
            for number in range(lines):
                policy = LogPolicy(when_full=WhenFull.TRIM)
                await subject.cache.append_and_publish(target, number, ttl_seconds=60, policy=policy)
                if number % 50 == 25:
                    await subject.ask("CLIENT", "KILL", "TYPE", "pubsub")

        assert target.channel is not None
        seen: list[int] = []
        async with subject.cache.subscribe(target.channel) as subscription, asyncio.timeout(20):
            writing = asyncio.create_task(write())
            last = 0
            while len(seen) < lines:
                event = await anext(subscription)
                if isinstance(event, Message):
                    items = [(event.sequence or 0, event.value)]
                elif isinstance(event, Resync):
                    items = [(item.sequence, item.value) for item in await subject.cache.read_log(target.log)]
                else:
                    continue
                fresh = [value for sequence, value in items if sequence > last]
                last = max([last, *(sequence for sequence, _ in items)])
                seen += fresh
            await writing
        assert seen == list(range(lines))


async def test_a_failed_publish_is_told_so_that_the_process_delivers_itself(
    server: KeyValueServer, tier: Tier
) -> None:
    async with opened(server.url, tier, deadline=timedelta(milliseconds=300)) as subject:
        channel = subject.families.channels.key(id=1)
        await subject.cache.publish(channel, 1)
        server.pause()
        with pytest.raises(OutcomeUnknown):
            await subject.cache.publish(channel, 2)
        server.resume()


async def test_a_subscriber_that_cannot_follow_is_cut_off_by_the_server_and_comes_back(
    server: KeyValueServer, tier: Tier
) -> None:
    async with (
        fault_proxy(server.port) as proxy,
        listening(proxy.url, tier) as (subject, subscription),
        opened(server.url, tier, namespace=subject.settings.namespace) as writer,
    ):
        await writer.server.open()
        limit = (await writer.ask("CONFIG", "GET", "client-output-buffer-limit"))[1]
        await writer.ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 64kb 32kb 1")
        proxy.pause()
        for _ in range(200):
            await writer.cache.publish(subscription.key, "x" * 60_000)
        await writer.ask("CONFIG", "SET", "client-output-buffer-limit", limit)
        proxy.resume()
        async with asyncio.timeout(10):
            while not isinstance(await anext(subscription), Resync):
                pass
        await writer.cache.publish(subscription.key, "after")
        while (event := await anext(subscription)) != Message("after"):
            assert isinstance(event, Message | Interrupted | Resync)
