import asyncio

import pytest

from shared.cache.flights import Flights


class Work:
    def __init__(self) -> None:
        self.started = 0
        self.cancelled = 0
        self.done = asyncio.Event()

    async def __call__(self) -> int:
        self.started += 1
        try:
            await self.done.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.started


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_all_who_join_share_one() -> None:
    flights, work = Flights(), Work()
    joined = [asyncio.create_task(flights.join("a", work)) for _ in range(100)]
    await turns()
    work.done.set()
    assert await asyncio.gather(*joined) == [1] * 100


async def test_an_error_reaches_all_and_is_not_kept() -> None:
    flights, calls = Flights(), 0

    async def fail() -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)
        raise LookupError

    outcomes = await asyncio.gather(*(flights.join("a", fail) for _ in range(5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [LookupError] * 5
    with pytest.raises(LookupError):
        await flights.join("a", fail)
    assert calls == 2


async def test_who_started_it_may_leave() -> None:
    flights, work = Flights(), Work()
    leader = asyncio.create_task(flights.join("a", work))
    await turns()
    follower = asyncio.create_task(flights.join("a", work))
    await turns()
    leader.cancel()
    await turns()
    work.done.set()
    assert await follower == 1
    assert leader.cancelled()
    assert not work.cancelled


async def test_the_last_to_leave_ends_it_and_the_next_starts_anew() -> None:
    flights, work = Flights(), Work()
    joined = [asyncio.create_task(flights.join("a", work)) for _ in range(3)]
    await turns()
    for task in joined:
        task.cancel()
    await turns()
    assert work.cancelled == 1
    work.done.set()
    assert await flights.join("a", work) == 2


async def test_one_that_nobody_waits_for_goes_on_when_a_caller_joins_and_leaves() -> None:
    flights, work = Flights(), Work()
    flights.launch("a", work)
    flights.launch("a", work)
    await turns()
    caller = asyncio.create_task(flights.join("a", work))
    await turns()
    caller.cancel()
    await turns()
    assert not work.cancelled
    work.done.set()
    await turns()
    assert work.started == 1


async def test_who_comes_after_it_was_left_behind_starts_anew() -> None:
    flights, work, other = Flights(), Work(), Work()
    early = asyncio.create_task(flights.join("a", work))
    await turns()
    flights.leave_behind("a")
    late = asyncio.create_task(flights.join("a", other))
    await turns()
    work.done.set()
    other.done.set()
    assert list(await asyncio.gather(early, late)) == [1, 1]
    assert (work.started, other.started) == (1, 1)


async def test_closing_leaves_no_task() -> None:
    flights, work = Flights(), Work()
    flights.launch("a", work)
    await turns()
    await flights.aclose()
    assert work.cancelled == 1
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "cache_load"]
