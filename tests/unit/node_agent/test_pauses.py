from __future__ import annotations

import random

import pytest

from node_agent.connection.pauses import STABLE_SECONDS, Ending, Outcome, Pauses, ending_of_code

LOST = Outcome(Ending.LOST)


def highest(_low: float, high: float) -> float:
    return high


class TestPauses:
    def test_doubles_up_to_a_minute(self) -> None:
        pauses = Pauses(highest)
        assert [pauses.after(LOST) for _ in range(9)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]

    def test_draws_from_zero_to_the_ceiling(self) -> None:
        drawn: list[tuple[float, float]] = []

        def dice(low: float, high: float) -> float:
            drawn.append((low, high))
            return 0.0

        pauses = Pauses(dice)
        for _ in range(3):
            pauses.after(LOST)
        assert drawn == [(0, 1), (0, 2), (0, 4)]

    def test_begins_anew_after_a_link_that_lasted(self) -> None:
        pauses = Pauses(highest)
        for _ in range(5):
            pauses.after(LOST)
        assert pauses.after(Outcome(Ending.LOST, lasted_seconds=STABLE_SECONDS)) == 1
        assert pauses.after(Outcome(Ending.LOST, lasted_seconds=STABLE_SECONDS - 1)) == 2

    def test_stays_away_for_an_hour_when_refused(self) -> None:
        assert Pauses(lambda low, _high: low).after(Outcome(Ending.REFUSED)) == 3600

    def test_stays_away_longer_when_replaced_than_when_lost(self) -> None:
        assert Pauses(lambda low, _high: low).after(Outcome(Ending.REPLACED)) > Pauses(highest).after(LOST)

    @pytest.mark.parametrize("ending", [Ending.GOODBYE, Ending.LOST])
    def test_follows_the_servers_wish_with_jitter_on_top(self, ending: Ending) -> None:
        outcome = Outcome(ending, retry_after_seconds=10)
        assert Pauses(highest).after(outcome) == 11
        assert Pauses(lambda low, _high: low).after(outcome) == 10

    def test_does_not_let_a_server_send_it_away_for_good(self) -> None:
        assert Pauses(highest).after(Outcome(Ending.GOODBYE, retry_after_seconds=1e9)) <= 61

    def test_a_fleet_that_was_cut_at_once_does_not_return_at_once(self) -> None:
        dice = random.Random(7)  # noqa: S311 - not a secret
        fleet = [Pauses(dice.uniform) for _ in range(200)]
        for _ in range(4):
            returns = [pauses.after(LOST) for pauses in fleet]
        by_second = [sum(1 for at in returns if second <= at < second + 1) for second in range(8)]
        assert sum(by_second) == 200
        assert max(by_second) <= 50


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        (4401, Ending.REFUSED),
        (4403, Ending.REFUSED),
        (4409, Ending.REPLACED),
        (4429, Ending.THROTTLED),
        (4400, Ending.THROTTLED),
        (4413, Ending.THROTTLED),
        (1000, Ending.LOST),
        (1001, Ending.LOST),
        (1006, Ending.LOST),
        (1013, Ending.LOST),
        (None, Ending.LOST),
        (4999, Ending.LOST),
    ],
)
def test_ending_of_code(code: int | None, ending: Ending) -> None:
    assert ending_of_code(code) is ending
