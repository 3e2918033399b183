"""What every event publisher promises."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.durable import EventConflictError, Retention
from shared.testing.waiting import wait_until
from tests.contracts.durable.backends import Backend, SqlBackend, context, event


async def publish(backend: Backend, count: int, *, length: int = 10_000) -> None:
    events = backend.events(length=length)
    for number in range(1, count + 1):
        await events.publish(event(number))


class TestPublish:
    async def test_numbers_without_holes(self, backend: Backend) -> None:
        events = backend.events()
        assert [await events.publish(event(number)) for number in (1, 2, 3)] == ["0-1", "0-2", "0-3"]

    async def test_keeps_everything_of_the_event_and_its_checkpoint(self, backend: Backend) -> None:
        events = backend.events()
        full = replace(event(1), checkpoint=context(revision=7))
        await events.publish(full)
        assert [stored.event for stored in await events.read("run-1")] == [full]

    async def test_concurrent_publishers_share_one_order(self, backend: Backend) -> None:
        events = backend.events()
        ids = await asyncio.gather(*(events.publish(event(number)) for number in range(20)))
        assert sorted(ids, key=lambda text: int(text[2:])) == [f"0-{number}" for number in range(1, 21)]
        assert len(await events.read("run-1")) == 20

    async def test_repeating_a_number_with_the_same_event_changes_nothing(self, backend: Backend) -> None:
        events = backend.events()
        for _ in range(3):
            assert await events.publish(event(1), sequence=1) == "0-1"
        assert await events.publish(event(2), sequence=2) == "0-2"
        assert await events.publish(event(1), sequence=1) == "0-1"
        assert len(await events.read("run-1")) == 2

    async def test_refuses_another_event_under_a_number_that_is_taken(self, backend: Backend) -> None:
        events = backend.events()
        await events.publish(event(1), sequence=1)
        with pytest.raises(EventConflictError):
            await events.publish(event(9), sequence=1)


class TestRead:
    async def test_the_cursor_is_exclusive(self, backend: Backend) -> None:
        await publish(backend, 5)
        events = backend.events()
        assert [stored.event_id for stored in await events.read("run-1", "0-2", 2)] == ["0-3", "0-4"]
        assert list(await events.read("run-1", "0-5")) == []
        assert list(await events.read("run-2")) == []


class TestPage:
    async def test_without_loss_there_is_no_gap(self, backend: Backend) -> None:
        await publish(backend, 5)
        page = await backend.events().page("run-1", "0-2")
        assert (len(page.events), page.gap, page.reset, page.cursor) == (3, 0, False, "0-5")

    async def test_a_reader_behind_a_trim_is_told_exactly_how_many_it_missed(self, backend: Backend) -> None:
        # Redis trims whole nodes of a hundred entries; SQL trims to the number.
        total = 40 if isinstance(backend, SqlBackend) else 350
        await publish(backend, total, length=10)
        events = backend.events()
        kept = [stored.event_id for stored in await events.read("run-1", limit=1000)]
        first = int(kept[0][2:])
        assert first > 20
        assert kept == [f"0-{number}" for number in range(first, total + 1)]
        for seen in (0, 7, 20):
            page = await events.page("run-1", f"0-{seen}", 1000)
            assert (page.gap, page.events[0].event_id) == (first - seen - 1, f"0-{first}")
            assert page.gap + len(page.events) == total - seen

    async def test_a_reader_at_the_end_is_told_nothing(self, backend: Backend) -> None:
        await publish(backend, 3)
        page = await backend.events().page("run-1", "0-3")
        assert (page.events, page.gap, page.reset, page.cursor) == ((), 0, False, "0-3")

    async def test_a_cursor_older_than_the_stream_is_told_to_start_again(self, backend: Backend) -> None:
        await publish(backend, 5)
        events = backend.events()
        assert await events.delete("run-1")
        page = await events.page("run-1", "0-5")
        assert (page.events, page.reset, page.cursor) == ((), True, None)
        await publish(backend, 2)
        assert (await events.page("run-1", "0-5")).reset
        assert len((await events.page("run-1")).events) == 2


class TestDelete:
    async def test_says_whether_there_was_anything(self, backend: Backend) -> None:
        await publish(backend, 1)
        assert await backend.events().delete("run-1")
        assert not await backend.events().delete("run-1")


class TestRetention:
    async def test_the_stream_leaves_when_nothing_was_published_for_so_long(self, backend: Backend) -> None:
        events = backend.events(retention=Retention(keep=timedelta(milliseconds=80)))
        await events.publish(event(1))
        await events.publish(event(2), sequence=2)
        assert await events.publish(event(2), sequence=2) == "0-2"

        async def gone() -> bool:
            return not await events.read("run-1")

        await wait_until(gone)
        assert await events.publish(event(3)) == "0-1"
