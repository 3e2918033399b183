"""The tier is killed, emptied and frozen in mid-day: what it costs is what is allowed, and no more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from control_server.flaps.schemas import ChangeKind, SubjectKind
from control_server.keys import BGP_FLAPS, PREFIX_FLAPS
from shared.testing.servers import KeyValueServer, valkey_server
from tests.integration.control.conftest import copied
from tests.integration.control.flaps.stage import Stage, open_stage

PREFIX = "172.20.0.0/24"
#: Of the day's eight rounds, in which the session falls.
FALLS = (1, 2, 4, 6, 7)
ROUNDS = 8

Fault = Callable[[Stage, int], Awaitable[None]]


@dataclass(frozen=True)
class Outcome:
    """How a day ended: scores, what happened to sessions, and rounds with a rate."""

    session: float
    prefix: float
    told: list[tuple[str, str, int]]
    counted: int


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[KeyValueServer]:
    """A server that may be killed."""
    with valkey_server(tmp_path / "own-valkey") as server:
        yield server


@asynccontextmanager
async def opened(migrated: Path, directory: Path, kv: str | None) -> AsyncIterator[Stage]:
    directory.mkdir()
    async with open_stage(copied(migrated, directory), directory, kv) as stage:
        yield stage
        if stage.resources.kv.configured:
            await stage.resources.kv.delete(BGP_FLAPS.key(node="r1"), PREFIX_FLAPS.key(node="r1"))


async def day(stage: Stage, fault: Fault | None = None) -> None:
    """Eight rounds five minutes apart; each prefix changes in each of them."""
    await stage.tell()
    await stage.report((PREFIX, ChangeKind.ANNOUNCED))
    for number in range(ROUNDS):
        if fault is not None:
            await fault(stage, number)
        stage.clock.turn(timedelta(seconds=150))
        if number in FALLS:
            stage.router.flap("f", stage.clock() - timedelta(seconds=20))
        await stage.report((PREFIX, ChangeKind.CHANGED))
        stage.clock.turn(timedelta(seconds=150))
        await stage.report((PREFIX, ChangeKind.WITHDRAWN))
        await stage.tell()


async def outcome(stage: Stage) -> Outcome:
    told = [
        (t.subject, t.event.value, t.weight)
        for t in reversed(await stage.flaps.transitions("r1"))
        if t.kind is SubjectKind.SESSION
    ]
    rates = await stage.flaps.rates("r1", stage.clock() - timedelta(days=1))
    counted = round(sum(rate.seconds for rate in rates) / 150)
    return Outcome(await stage.score("f"), await stage.score(PREFIX), told, counted)


@pytest.fixture
async def undisturbed(migrated: Path, tmp_path: Path) -> Outcome:
    async with opened(migrated, tmp_path / "undisturbed", None) as stage:
        await day(stage)
        return await outcome(stage)


async def test_with_the_tier_a_day_ends_as_without_it(
    migrated: Path, tmp_path: Path, own_valkey: KeyValueServer, undisturbed: Outcome
) -> None:
    async with opened(migrated, tmp_path / "kv", f"{own_valkey.url}/1") as stage:
        await day(stage)
        ended = await outcome(stage)
        assert await stage.resources.kv.get_json(BGP_FLAPS.key(node="r1")) is not None
    assert (ended.told, ended.counted) == (undisturbed.told, undisturbed.counted)
    assert ended.session == pytest.approx(undisturbed.session, abs=0.5)
    assert ended.prefix == pytest.approx(undisturbed.prefix, abs=0.5)
    assert (len(ended.told), ended.counted) == (len(FALLS), 2 * ROUNDS)


async def test_emptied_in_mid_day_costs_the_scores_until_then_and_one_rate(
    migrated: Path, tmp_path: Path, own_valkey: KeyValueServer, undisturbed: Outcome
) -> None:
    async def empty(stage: Stage, number: int) -> None:
        if number == 3:
            await stage.resources.kv.delete(BGP_FLAPS.key(node="r1"), PREFIX_FLAPS.key(node="r1"))

    async with opened(migrated, tmp_path / "kv", f"{own_valkey.url}/1") as stage:
        await day(stage, empty)
        ended = await outcome(stage)
    assert ended.told == undisturbed.told, "what happened is never lost"
    assert ended.counted == undisturbed.counted - 1, "one round counts no rate"
    assert ended.session == pytest.approx(_since_round_3(), abs=0.5)
    assert 0 < ended.prefix < undisturbed.prefix


async def test_frozen_from_round_3_to_5_costs_one_rate(
    migrated: Path, tmp_path: Path, own_valkey: KeyValueServer, undisturbed: Outcome
) -> None:
    """SQL counts from nothing meanwhile, and both are added when the tier is back with what it knew."""

    async def freeze(stage: Stage, number: int) -> None:
        if number == 3:
            own_valkey.pause()
        if number == 6:
            own_valkey.resume()
            await answers(stage)

    async with opened(migrated, tmp_path / "kv", f"{own_valkey.url}/1") as stage:
        await day(stage, freeze)
        ended = await outcome(stage)
    assert ended.told == undisturbed.told
    assert ended.counted == undisturbed.counted - 1
    assert ended.session == pytest.approx(undisturbed.session, abs=0.5)
    assert ended.prefix == pytest.approx(undisturbed.prefix, abs=0.5)


async def test_killed_in_round_3_and_back_in_round_6_costs_the_scores_until_then_and_one_rate(
    migrated: Path, tmp_path: Path, own_valkey: KeyValueServer, undisturbed: Outcome
) -> None:
    async def kill(stage: Stage, number: int) -> None:
        if number == 3:
            await asyncio.to_thread(own_valkey.kill)
        if number == 6:
            await asyncio.to_thread(own_valkey.start)
            await answers(stage)

    async with opened(migrated, tmp_path / "kv", f"{own_valkey.url}/1") as stage:
        await day(stage, kill)
        ended = await outcome(stage)
        assert await stage.resources.kv.get_json(BGP_FLAPS.key(node="r1")) is not None, (
            "it is kept there again"
        )
    assert ended.told == undisturbed.told
    assert ended.counted == undisturbed.counted - 1
    assert ended.session == pytest.approx(_since_round_3(), abs=0.5)


def _since_round_3() -> float:
    return _charges([(number, 130) for number in FALLS if number >= 3], 1000)


def _charges(falls: list[tuple[int, int]], weight: float) -> float:
    """The score at the end of the day of charges at (round, seconds into it)."""
    end = ROUNDS * 300
    return sum(weight * 2 ** (-(end - (number * 300 + into)) / 1800) for number, into in falls)


async def answers(stage: Stage) -> None:
    """Wait until the tier is spoken to again."""
    async with asyncio.timeout(20):
        while True:
            try:
                await stage.resources.kv.get_json(BGP_FLAPS.key(node="r1"))
            except Exception:  # noqa: BLE001 - the breaker lets a call through when its pause is over
                await asyncio.sleep(0.05)
            else:
                return
