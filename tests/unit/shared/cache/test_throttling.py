"""Failures in the view of one process, without the tier."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.cache import Cache, Tier
from shared.cache.failures import WINDOW, Failures, ProcessCounter, failure_counters
from shared.cache.throttling import BearerThrottle, SignInThrottle, SignInThrottled
from shared.kernel.errors import AppError, Forbidden, Unauthenticated
from tests.contracts.cache.subjects import Families

FAMILY = replace(Families(Tier.KV).counters, pattern="failure:<subject>")


@dataclass
class HandClock:
    at: datetime = field(default_factory=lambda: datetime(2030, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def absent() -> Cache:
    return Cache.unconfigured(Tier.KV)


async def sign_in(throttle: SignInThrottle, refusal: AppError | None = None, limit: int = 2) -> str:
    try:
        async with throttle.attempt({"address:192.0.2.1": limit}):
            await asyncio.sleep(0)
            if refusal is not None:
                raise refusal
    except AppError as error:
        return error.code
    return "in"


async def bring(throttle: BearerThrottle, refusal: AppError | None = None) -> str:
    try:
        async with throttle.attempt("192.0.2.1"):
            if refusal is not None:
                raise refusal
    except AppError as error:
        return error.code
    return "in"


class TestAttempts:
    async def test_the_one_that_is_too_many_is_not_looked_at(self, clock: HandClock, absent: Cache) -> None:
        throttle = SignInThrottle.on(absent, FAMILY, clock)
        seen = [await sign_in(throttle, Unauthenticated()) for _ in range(3)]
        assert seen == ["unauthenticated", "unauthenticated", "sign_in_throttled"]
        assert await sign_in(throttle) == "sign_in_throttled"
        clock.at += WINDOW
        assert await sign_in(throttle) == "in"

    async def test_those_that_come_at_once_see_one_another(self, clock: HandClock, absent: Cache) -> None:
        throttle = SignInThrottle.on(absent, FAMILY, clock)
        seen = await asyncio.gather(*(sign_in(throttle, Unauthenticated()) for _ in range(9)))
        assert seen.count("unauthenticated") <= 2
        assert set(seen) <= {"unauthenticated", "sign_in_throttled"}

    async def test_only_failures_count(self, clock: HandClock, absent: Cache) -> None:
        throttle = SignInThrottle.on(absent, FAMILY, clock)
        for refusal in (None, Forbidden(), None, Forbidden()):
            await sign_in(throttle, refusal)
        assert await sign_in(throttle) == "in"

    async def test_what_a_failure_is_can_be_said(self, clock: HandClock, absent: Cache) -> None:
        counters = failure_counters(absent, FAMILY, clock)
        throttle = SignInThrottle(clock, counters, lambda refusal: isinstance(refusal, Forbidden))
        for refusal in (Unauthenticated(), Forbidden(), Unauthenticated(), Forbidden()):
            await sign_in(throttle, refusal, limit=3)
        assert [view.count for view in [await counter.read("x") for counter in counters]] == [0]
        assert await sign_in(throttle) == "sign_in_throttled"


class TestBearers:
    async def test_the_source_of_too_many_bad_ones_waits(self, clock: HandClock, absent: Cache) -> None:
        throttle = BearerThrottle.on(absent, FAMILY, clock, 2)
        assert [await bring(throttle, Unauthenticated()) for _ in range(2)] == ["unauthenticated"] * 2
        clock.at += timedelta(minutes=5)
        with pytest.raises(SignInThrottled) as caught:
            async with throttle.attempt("192.0.2.1"):
                pytest.fail("it was looked at")
        assert caught.value.retry_after == WINDOW - timedelta(minutes=5)
        clock.at += timedelta(minutes=10)
        assert await bring(throttle) == "in"

    async def test_good_ones_at_once_are_no_failures(self, clock: HandClock, absent: Cache) -> None:
        throttle = BearerThrottle.on(absent, FAMILY, clock, 2)
        assert set(await asyncio.gather(*(bring(throttle) for _ in range(50)))) == {"in"}


class TestProcessCounter:
    async def test_goes_by_the_view_that_saw_more(self, clock: HandClock) -> None:
        counter = ProcessCounter(clock)
        await counter.add("x")
        counter.learn("x", Failures(7, clock.at + timedelta(seconds=60)))
        counter.learn("x", Failures(3, clock.at + timedelta(seconds=600)))
        assert counter.look("x") == Failures(7, clock.at + timedelta(seconds=60))
        clock.at += timedelta(seconds=60)
        assert counter.look("x").count == 0

    async def test_forgets_the_oldest_beyond_its_bound(
        self, clock: HandClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("shared.cache.failures._MOST_SUBJECTS", 3)
        counter = ProcessCounter(clock)
        for subject in "abcd":
            await counter.add(subject)
        assert [counter.look(subject).count for subject in "abcd"] == [0, 1, 1, 1]
