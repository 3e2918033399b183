"""The score: its vectors, late events, the ceiling, levels."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_server.flaps.rules.score import (
    CEILING,
    CLEAR,
    DROP,
    HALF_LIFE,
    NOTHING,
    Score,
    Tally,
    level_of,
    limit_of,
    seconds_until,
)
from control_server.flaps.schemas import Level

MINUTE = 60.0


def after(*events: tuple[float, float]) -> Score:
    """The score after events of (instant, weight)."""
    score = Score()
    for at, weight in events:
        score = score.charged(weight, at)
    return score


class TestVectors:
    @pytest.mark.parametrize(
        ("spacing", "expected"),
        [
            (60, [1000.0, 1977.2, 2932.0, 3865.0, 4776.8]),
            (300, [1000.0, 1890.9, 2684.6, 3391.7, 4021.7]),
        ],
    )
    def test_drops_in_a_row(self, spacing: int, expected: list[float]) -> None:
        score, seen = Score(), []
        for number in range(5):
            score = score.charged(DROP, number * spacing)
            seen.append(round(score.value, 1))
        assert seen == expected

    @pytest.mark.parametrize(
        ("minutes", "limit"),
        [(1, 43782.8), (2, 22144.3), (5, 9165.8), (10, 4847.3), (15, 3414.2), (30, 2000.0), (60, 1333.3)],
    )
    def test_the_limit_of_endless_drops(self, minutes: int, limit: float) -> None:
        assert round(limit_of(DROP, minutes * MINUTE), 1) == limit

    @pytest.mark.parametrize("minutes", [5, 10, 15, 30, 60])
    def test_endless_drops_come_to_their_limit(self, minutes: int) -> None:
        score = Score()
        for number in range(500):
            score = score.charged(DROP, number * minutes * MINUTE)
        assert score.value == pytest.approx(limit_of(DROP, minutes * MINUTE), rel=1e-9)

    @pytest.mark.parametrize(
        ("value", "minutes"), [(1000, 12.45), (2000, 42.45), (3000, 60), (6000, 90), (12000, 120)]
    )
    def test_the_time_to_clear(self, value: float, minutes: float) -> None:
        assert seconds_until(value) / MINUTE == pytest.approx(minutes, abs=0.005)
        assert Score(value, 0).now(seconds_until(value)) == pytest.approx(CLEAR)

    @pytest.mark.parametrize(("minutes", "ceiling"), [(60, 3000), (120, 12000), (240, 192000)])
    def test_the_ceiling_of_a_longest_memory(self, minutes: float, ceiling: float) -> None:
        assert CLEAR * 2 ** (minutes * MINUTE / HALF_LIFE) == ceiling

    def test_a_score_halves_in_thirty_minutes(self) -> None:
        assert Score(1000, 0).now(HALF_LIFE) == 500


class TestLateEvents:
    def test_one_that_is_told_late_ends_in_the_same_score(self) -> None:
        late = after((0, 1000), (600, 1000), (300, 500))
        in_order = after((0, 1000), (300, 500), (600, 1000))
        assert round(late.value, 2) == round(in_order.value, 2) == 2239.15
        assert late.at == in_order.at == 600

    @given(
        st.lists(st.tuples(st.floats(0, 20_000), st.sampled_from([500, 1000])), min_size=1, max_size=8),
        st.randoms(),
    )
    def test_the_order_never_matters_below_the_ceiling(
        self, events: list[tuple[float, float]], any_: object
    ) -> None:
        shuffled = list(events)
        any_.shuffle(shuffled)  # type: ignore[attr-defined]
        one, other = after(*sorted(events)), after(*shuffled)
        assert one.now(20_000) == pytest.approx(other.now(20_000), rel=1e-9)

    def test_a_clock_that_goes_back_makes_no_score_grow(self) -> None:
        assert Score(1000, 5000).now(10) == 1000


class TestCeiling:
    def test_nothing_is_above_it(self) -> None:
        assert after(*((number, DROP) for number in range(100))).value == CEILING

    def test_nor_late_events(self) -> None:
        full = after(*((100 + number, DROP) for number in range(100)))
        assert full.charged(DROP, 50).value == CEILING

    def test_it_is_forgotten_in_two_hours(self) -> None:
        assert seconds_until(CEILING) == 2 * 3600


class TestLevels:
    def test_three_drops_a_minute_apart_do_not_trip_it_and_four_do(self) -> None:
        tally = NOTHING
        levels = []
        for number in range(4):
            tally = tally.charged(DROP, number * MINUTE)
            levels.append(tally.level)
        assert levels == [Level.STABLE, Level.STABLE, Level.NOISY, Level.FLAPPING]

    def test_one_drop_every_thirty_minutes_never_does(self) -> None:
        tally = NOTHING
        for number in range(200):
            tally = tally.charged(DROP, number * HALF_LIFE)
            assert tally.level is not Level.FLAPPING

    def test_one_every_fifteen_minutes_does_in_the_long_run(self) -> None:
        tally, seen = NOTHING, []
        for number in range(12):
            tally = tally.charged(DROP, number * 15 * MINUTE)
            seen.append(tally.level)
        assert seen[-1] is Level.FLAPPING

    @pytest.mark.parametrize("level", [Level.NOISY, Level.FLAPPING])
    def test_it_falls_only_below_the_clearing_level(self, level: Level) -> None:
        assert level_of(CLEAR, level) is level
        assert level_of(CLEAR - 0.1, level) is Level.STABLE

    def test_there_is_no_to_and_fro_at_a_boundary(self) -> None:
        tally = Tally(Score(2999, 0), Level.NOISY)
        levels = []
        for number in range(1, 40):
            tally = tally.charged(70, number * MINUTE)
            levels.append(tally.level)
        changes = sum(one is not other for one, other in pairwise(levels))
        assert changes <= 1

    def test_it_tells_when_it_clears(self) -> None:
        tally = NOTHING
        for number in range(5):
            tally = tally.charged(DROP, number * 300)
        clears = tally.clears_at(1200)
        assert clears is not None
        assert tally.level_at(clears - 1) is Level.FLAPPING
        assert tally.level_at(clears + 1) is Level.STABLE
        assert tally.clears_at(clears + 1) is None

    def test_what_weighs_nothing_changes_nothing(self) -> None:
        tally = NOTHING.charged(DROP, 100)
        assert tally.charged(0, 200) == tally


class TestTogether:
    def test_charges_of_two_keepers_add_up(self) -> None:
        events = [(0.0, 1000.0), (300.0, 1000.0), (900.0, 500.0), (1500.0, 1000.0)]
        whole, first, second = NOTHING, NOTHING, NOTHING
        for number, (at, weight) in enumerate(events):
            whole = whole.charged(weight, at)
            if number < 2:
                first = first.charged(weight, at)
            else:
                second = second.charged(weight, at)
        together = first.plus(second)
        assert together.score.now(2000) == pytest.approx(whole.score.now(2000))
        assert (together.events, together.first_at, together.last_at) == (4, 0.0, 1500.0)
