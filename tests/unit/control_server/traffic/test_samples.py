"""What two samples of a node mean."""

from datetime import UTC, datetime
from typing import Any

from control_server.traffic.rules import compared, is_repeated
from control_server.traffic.schemas import TOTAL, SeriesKey
from shared.protocol.reports import CounterReading, LinkKind, TrafficSample

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def counter(interface: str, received: int, **more: Any) -> CounterReading:
    values = {"interface": interface, "epoch": "1", "received_bytes": received, "sent_bytes": 0}
    return CounterReading.model_validate({"kind": LinkKind.TUNNEL, **values, **more})


def sample(sequence: int, *counters: CounterReading, **more: Any) -> TrafficSample:
    values = {
        "stream": "one",
        "sequence": sequence,
        "taken_at": NOW,
        "boot_id": "boot",
        "monotonic_seconds": 30.0 * sequence,
        "counters": counters,
    }
    return TrafficSample.model_validate({**values, **more})


class TestIsRepeated:
    def test_the_same_number_again_is(self) -> None:
        assert is_repeated(sample(2), sample(2))
        assert is_repeated(sample(2), sample(1))
        assert not is_repeated(sample(2), sample(3))

    def test_another_life_of_the_agent_counts_on(self) -> None:
        assert not is_repeated(sample(9), sample(1, stream="two", monotonic_seconds=300))
        assert is_repeated(sample(9), sample(1, stream="two", monotonic_seconds=30))

    def test_another_boot_is_news(self) -> None:
        assert not is_repeated(sample(9), sample(1, stream="two", boot_id="other", monotonic_seconds=1))


class TestCompared:
    def test_the_first_sample_shows_nothing(self) -> None:
        assert compared(None, sample(1, counter("wg-f", 10)), NOW) == []

    def test_an_agent_that_began_anew_goes_on_with_the_counters(self) -> None:
        again = sample(1, counter("wg-f", 4000), stream="two", monotonic_seconds=60.0)
        found = {
            b.key: b.volume.received_bytes for b in compared(sample(1, counter("wg-f", 1000)), again, NOW)
        }
        assert found == {SeriesKey("wg-f"): 3000, TOTAL: 3000}

    def test_a_reset_link_leaves_a_hole_and_no_dip(self) -> None:
        before = sample(1, counter("wg-f", 9000), counter("wg-g", 0))
        after = sample(2, counter("wg-f", 10), counter("wg-g", 600))
        found = {b.key: b.volume.received_bytes for b in compared(before, after, NOW)}
        assert found == {SeriesKey("wg-g"): 600, TOTAL: 600}

    def test_tunnels_count_and_the_link_below_them_does_not(self) -> None:
        before = sample(1, counter("eth0", 0, kind="physical"), counter("wg-f", 0))
        after = sample(2, counter("eth0", 1000, kind="physical"), counter("wg-f", 900))
        found = {b.key: b.volume.received_bytes for b in compared(before, after, NOW)}
        assert found[TOTAL] == 900
        assert found[SeriesKey("eth0")] == 1000

    def test_peers_are_not_counted_twice(self) -> None:
        before = sample(1, counter("wg-f", 0), counter("wg-f", 0, peer="a"), counter("wg-f", 0, peer="b"))
        after = sample(2, counter("wg-f", 30), counter("wg-f", 10, peer="a"), counter("wg-f", 20, peer="b"))
        found = {b.key: b.volume.received_bytes for b in compared(before, after, NOW)}
        assert found[TOTAL] == 30
        assert found[SeriesKey("wg-f", "b")] == 20

    def test_another_key_is_another_series(self) -> None:
        before = sample(1, counter("wg-f", 500, peer="old"))
        after = sample(2, counter("wg-f", 10, peer="new"))
        assert compared(before, after, NOW) == []

    def test_another_boot_shows_nothing(self) -> None:
        after = sample(1, counter("wg-f", 5000), boot_id="other", stream="two", monotonic_seconds=31.0)
        assert compared(sample(1, counter("wg-f", 10)), after, NOW) == []
