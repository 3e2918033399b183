import asyncio
from typing import Any

import pytest

from shared.cache import LogItem, LogPolicy, LogTarget, Message, Outcome, WhenFull
from tests.contracts.cache.subjects import Subject

REFUSES = LogPolicy(truncation_mark={"truncated": True})
TRIMS = LogPolicy(when_full=WhenFull.TRIM)


async def target_of(subject: Subject, cap: int = 10) -> LogTarget:
    """A log whose guard is there."""
    guard = subject.families.values.key(id="job")
    await subject.cache.set_json(guard, {"state": "running"}, ttl_seconds=60)
    return LogTarget(subject.families.logs(cap).key(id=1), guard, subject.families.channels.key(id=1))


class TestRefusing:
    async def test_numbers_items_from_one_and_keeps_them_unchanged(self, subject: Subject) -> None:
        target = await target_of(subject)
        values: list[Any] = [{"text": "a", "none": [], "one": 1.0}, 2**53 + 1]
        appended = await subject.cache.append_and_publish(target, *values, ttl_seconds=60, policy=REFUSES)
        assert [item.sequence for item in appended] == [1, 2]
        assert await subject.cache.read_log(target.log) == [LogItem(1, values[0]), LogItem(2, values[1])]
        assert await subject.cache.read_list(target.log) == values
        assert 59_000 < await subject.ask("PTTL", subject.raw("log:1")) <= 60_000

    async def test_refuses_once_the_job_is_gone(self, subject: Subject) -> None:
        """A late line would bring the list back without an end."""
        target = await target_of(subject)
        await subject.cache.delete(target.guard)
        (late,) = await subject.cache.append_and_publish(target, "late", ttl_seconds=60)
        assert late.outcome is Outcome.GONE
        assert await subject.ask("EXISTS", subject.raw("log:1")) == 0

    async def test_past_the_cap_there_is_one_mark_and_nothing_more(self, subject: Subject) -> None:
        target = await target_of(subject, cap=5)
        first = await subject.cache.append_and_publish(target, *"abc", ttl_seconds=60, policy=REFUSES)
        second = await subject.cache.append_and_publish(target, *"defg", ttl_seconds=60, policy=REFUSES)
        third = await subject.cache.append_and_publish(target, "h", ttl_seconds=60, policy=REFUSES)
        outcomes = [item.outcome for item in (*first, *second, *third)]
        assert outcomes == [Outcome.STORED] * 4 + [Outcome.TRUNCATED] + [Outcome.REFUSED] * 3
        assert await subject.cache.read_list(target.log) == ["a", "b", "c", "d", {"truncated": True}]

    async def test_a_limit_below_the_cap_leaves_room_for_the_end(self, subject: Subject) -> None:
        target = await target_of(subject, cap=6)
        lines = LogPolicy(limit=3, truncation_mark="cut")
        await subject.cache.append_and_publish(target, *"abcd", ttl_seconds=60, policy=lines)
        await subject.cache.append_and_publish(target, "done", ttl_seconds=60)
        (late,) = await subject.cache.append_and_publish(target, "e", ttl_seconds=60, policy=lines)
        assert late.outcome is Outcome.REFUSED
        assert await subject.cache.read_list(target.log) == ["a", "b", "cut", "done"]

    async def test_the_mark_is_set_although_something_else_took_its_place(self, subject: Subject) -> None:
        target = await target_of(subject, cap=6)
        lines = LogPolicy(limit=3, truncation_mark="cut")
        await subject.cache.append_and_publish(target, *"ab", ttl_seconds=60, policy=lines)
        await subject.cache.append_and_publish(target, "done", ttl_seconds=60)
        await subject.cache.append_and_publish(target, *"cd", ttl_seconds=60, policy=lines)
        assert await subject.cache.read_list(target.log) == ["a", "b", "done", "cut"]


class TestTrimming:
    async def test_numbers_go_on_past_the_cap(self, subject: Subject) -> None:
        """The length of a trimmed list stands still, and would number every later item alike."""
        target = await target_of(subject, cap=10)
        for first in range(0, 1000, 50):
            appended = await subject.cache.append_and_publish(
                target, *range(first, first + 50), ttl_seconds=60, policy=TRIMS
            )
            assert [item.sequence for item in appended] == list(range(first + 1, first + 51))
        kept = await subject.cache.read_log(target.log)
        assert kept == [LogItem(number + 1, number) for number in range(990, 1000)]


async def test_publishes_in_the_order_of_the_numbers_whoever_appends(subject: Subject) -> None:
    target = await target_of(subject, cap=1000)
    assert target.channel is not None
    async with subject.cache.subscribe(target.channel) as subscription:

        async def write(writer: int) -> None:
            for number in range(25):
                await subject.cache.append_and_publish(target, [writer, number], ttl_seconds=60)

        await asyncio.gather(*(write(writer) for writer in range(8)))
        heard = [await anext(subscription) for _ in range(200)]
    assert all(isinstance(event, Message) for event in heard)
    assert [event.sequence for event in heard if isinstance(event, Message)] == list(range(1, 201))


async def test_a_reader_who_subscribes_first_misses_and_doubles_nothing(subject: Subject) -> None:
    target = await target_of(subject, cap=1000)
    lines = 120

    async def write() -> None:
        for number in range(lines):
            await subject.cache.append_and_publish(target, number, ttl_seconds=60)

    async def read(delay: int) -> list[Any]:
        for _ in range(delay):
            await asyncio.sleep(0)
        assert target.channel is not None
        async with subject.cache.subscribe(target.channel) as subscription:
            read = await subject.cache.read_log(target.log)
            seen = [item.value for item in read]
            last = read[-1].sequence if read else 0
            while len(seen) < lines:
                event = await anext(subscription)
                assert isinstance(event, Message)
                assert event.sequence is not None
                if event.sequence > last:
                    seen.append(event.value)
            return seen

    readers = [read(number * 20) for number in range(6)]
    *seen, _ = await asyncio.gather(*readers, write())
    assert seen == [list(range(lines))] * 6


class TestLists:
    async def test_append_keeps_the_newest(self, subject: Subject) -> None:
        key = subject.families.windows.key(id=1)
        assert await subject.cache.append(key, 1, 2, ttl_seconds=5) == 2
        assert await subject.cache.append(key, 3, 4, ttl_seconds=5) == 3
        assert await subject.cache.read_list(key) == [2, 3, 4]

    async def test_push_window_keeps_the_newest_in_front(self, subject: Subject) -> None:
        key = subject.families.windows.key(id=1)
        for number in range(5):
            await subject.cache.push_window(key, number, ttl_seconds=5)
        assert await subject.cache.read_list(key) == [4, 3, 2]
        assert await subject.cache.read_list(key, 0, 0) == [4]

    async def test_an_item_that_cannot_be_understood_is_left_out(self, subject: Subject) -> None:
        key = subject.families.windows.key(id=1)
        await subject.cache.append(key, 1, ttl_seconds=5)
        await subject.ask("RPUSH", subject.raw("window:1"), b"\xff")
        assert await subject.cache.read_list(key) == [1]

    async def test_a_list_without_a_cap_is_refused(self, subject: Subject) -> None:
        from shared.cache import Kind

        family = subject.families.family("endless", Kind.LIST)
        with pytest.raises(ValueError, match="cap"):
            await subject.cache.append(family.key(id=1), 1, ttl_seconds=5)

    async def test_operations_keep_to_their_kind(self, subject: Subject) -> None:
        with pytest.raises(ValueError, match="log"):
            await subject.cache.read_log(subject.families.windows.key(id=1))
        with pytest.raises(ValueError, match="list"):
            await subject.cache.append(subject.families.logs().key(id=1), 1, ttl_seconds=5)
