import asyncio

import pytest

from shared.cache import Message, Resync, ResyncReason
from tests.contracts.cache.subjects import Subject, eventually


async def test_what_is_published_after_subscribing_is_heard(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with subject.cache.subscribe(channel) as subscription:
        assert await subject.cache.publish(channel, {"generation": 7}) == 1
        assert await anext(subscription) == Message({"generation": 7})


async def test_publishing_to_nobody_is_no_error(subject: Subject) -> None:
    assert await subject.cache.publish(subject.families.channels.key(id=1), 1) == 0


async def test_one_connection_serves_all_subscribers_of_the_process(subject: Subject) -> None:
    channels = [subject.families.channels.key(id=number) for number in range(30)]
    async with asyncio.TaskGroup() as group:
        for channel in channels * 3:
            group.create_task(hear_one(subject, channel))
    assert subject.recorder.connections == 1


async def hear_one(subject: Subject, channel: object) -> None:
    from shared.cache import Key

    assert isinstance(channel, Key)
    async with subject.cache.subscribe(channel) as subscription:
        await subject.cache.publish(channel, channel.name)
        assert await anext(subscription) == Message(channel.name)


async def test_the_last_to_leave_takes_the_channel_along(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with subject.cache.subscribe(channel):
        async with subject.cache.subscribe(channel):
            pass
        assert await subject.cache.publish(channel, 1) == 1

    async def nobody_hears() -> bool:
        return await subject.cache.publish(channel, 1) == 0

    await eventually(nobody_hears)


async def test_leaving_and_coming_back_hears_again(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    for number in range(30):
        async with subject.cache.subscribe(channel) as subscription:
            await subject.cache.publish(channel, number)
            assert await anext(subscription) == Message(number)


async def test_a_slow_subscriber_is_told_to_read_again_and_others_are_not(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with (
        subject.cache.subscribe(channel, limit=10) as slow,
        subject.cache.subscribe(channel, limit=1000) as patient,
    ):
        for number in range(25):
            await subject.cache.publish(channel, number)
        heard = [await anext(patient) for _ in range(25)]
        assert heard == [Message(number) for number in range(25)]
        assert isinstance(told := await anext(slow), Resync)
        assert told.reason is ResyncReason.OVERFLOWED
        rest = [await anext(slow) for _ in range(4)]
    assert rest == [Message(number) for number in (21, 22, 23, 24)]
    assert subject.recorder.overflows


async def test_waiting_can_be_given_up_and_taken_up_again(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with subject.cache.subscribe(channel) as subscription:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await anext(subscription)
        await subject.cache.publish(channel, 1)
        assert await anext(subscription) == Message(1)


async def test_what_cannot_be_understood_is_counted_and_passed_over(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with subject.cache.subscribe(channel) as subscription:
        await subject.ask("PUBLISH", subject.raw("channel:1"), b"\xff\xfe")
        await subject.cache.publish(channel, 1)
        assert await anext(subscription) == Message(1)
    assert ("channel", "message", "undecodable") in subject.recorder.results


async def test_closing_the_tier_ends_the_subscription(subject: Subject) -> None:
    channel = subject.families.channels.key(id=1)
    async with subject.cache.subscribe(channel) as subscription:
        ending = asyncio.create_task(subject.cache.aclose())
        assert [event async for event in subscription] == []
        await ending
