"""What two readings of a counter mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_server.traffic.rules import Counted, Why, added, difference, rate
from shared.protocol.reports import CounterReading

MBIT = 1_000_000


def reading(received: int = 0, sent: int = 0, **more: object) -> CounterReading:
    values = {"interface": "wg-f", "epoch": "boot:7", "received_bytes": received, "sent_bytes": sent}
    return CounterReading.model_validate({**values, **more})


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (Counted(1000, 0), Counted(4000, 30), 100.0),
        (Counted(4000, 0), Counted(200, 30), None),
        (Counted(4000, 0, "one"), Counted(200, 30, "two"), None),
        (Counted(200, 0, "two"), Counted(3200, 30, "two"), 100.0),
        (Counted(1000, 0), Counted(4000, 120), None),
        (Counted(4000, 120), Counted(7000, 150), 100.0),
        (Counted(2**32 - 500, 0), Counted(500, 30, width=32, link_bits=100 * MBIT), 1000 / 30),
        (Counted(2**32 - 500, 0), Counted(500, 30, width=32, link_bits=10_000 * MBIT), None),
        (None, Counted(4000, 30), None),
        (Counted(1000, 30), Counted(4000, 30), None),
        (Counted(1000, 60), Counted(4000, 30), None),
    ],
    ids=[
        "a difference over its time",
        "a drop in one epoch",
        "a drop with a new boot",
        "the next after a drop",
        "a hole",
        "from a hole on",
        "a wrap of 32 bits",
        "a wrap that cannot be told from a reset",
        "the first reading",
        "no time between",
        "time that runs backwards",
    ],
)
def test_rate_of_a_counter(before: Counted | None, now: Counted, expected: float | None) -> None:
    found = rate(before, now)
    assert found == (expected if expected is None else pytest.approx(expected))


class TestDifference:
    def test_measures_by_the_time_that_was_measured(self) -> None:
        for seconds in (30.0, 31.0, 61.0):
            found = difference(reading(), reading(int(100 * seconds)), seconds)
            assert found.received_bytes / found.seconds == pytest.approx(100)

    def test_a_drop_is_unknown_and_never_a_huge_number(self) -> None:
        found = difference(reading(10**12), reading(5), 30)
        assert (found.known, found.why_not) == (False, Why.RESET)

    def test_a_drop_of_one_direction_makes_both_unknown(self) -> None:
        assert not difference(reading(10, 5000), reading(20, 100), 30).known

    def test_a_step_back_below_a_packet_is_nothing(self) -> None:
        found = difference(reading(10_000), reading(9_990), 30)
        assert (found.known, found.received_bytes) == (True, 0)

    def test_more_than_the_link_can_carry_is_discarded(self) -> None:
        full = 100 * MBIT * 30 // 8
        assert difference(reading(), reading(int(full * 1.19), link_bits=100 * MBIT), 30).known
        found = difference(reading(), reading(int(full * 1.21), link_bits=100 * MBIT), 30)
        assert found.why_not is Why.IMPOSSIBLE

    def test_a_link_without_a_speed_is_capped_as_well(self) -> None:
        assert difference(reading(), reading(2**63), 30).why_not is Why.IMPOSSIBLE

    def test_a_moment_of_zero_on_a_narrow_counter_is_a_reset(self) -> None:
        low = difference(reading(10**9), reading(0, width=32, link_bits=100 * MBIT), 30)
        assert low.why_not is Why.RESET

    def test_a_fast_link_with_narrow_counters_is_not_measured(self) -> None:
        found = difference(reading(), reading(1000, width=32, link_bits=1000 * MBIT), 30)
        assert found.why_not is Why.IMPOSSIBLE

    def test_a_hole_is_not_smeared(self) -> None:
        assert difference(reading(), reading(10**6), 180).why_not is Why.GAP
        assert difference(reading(), reading(10**6), 90).known

    def test_the_same_peer_in_a_new_epoch_begins_anew(self) -> None:
        found = difference(reading(100), reading(500, epoch="boot:8"), 30)
        assert found.why_not is Why.EPOCH

    def test_counters_of_another_boot_begin_anew(self) -> None:
        assert difference(reading(100), reading(500), 30, same_boot=False).why_not is Why.EPOCH

    def test_packets_are_unknown_where_they_are_not_counted(self) -> None:
        found = difference(reading(received_packets=5), reading(10, received_packets=9), 30)
        assert (found.received_packets, found.sent_packets) == (4, None)

    @given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.floats(0.1, 90))
    def test_is_never_negative_and_never_above_the_cap(self, before: int, now: int, seconds: float) -> None:
        found = difference(reading(before), reading(now), seconds)
        if found.known:
            assert 0 <= found.received_bytes * 8 / seconds <= 1.2 * 400_000_000_000


class TestAdded:
    def test_one_reset_peer_takes_nothing_from_the_others(self) -> None:
        steady = difference(reading(0), reading(3000), 30)
        reset = difference(reading(9000), reading(10), 30)
        assert added([steady, reset], 30).received_bytes == 3000

    def test_nothing_known_is_not_zero(self) -> None:
        assert not added([difference(None, reading(1), 30)], 30).known
