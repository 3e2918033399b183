"""Where the points of a chart are."""

from datetime import UTC, datetime, timedelta

import pytest

from control_server.traffic.rules import MAX_POINTS, Drawn, of_samples, plan, series
from control_server.traffic.schemas import TOTAL, Bucket, TrafficRange, TrafficSource, Volume
from shared.protocol.reports import LinkKind

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def bucket(at: datetime, seconds: float, received: int, covered: float | None = None) -> Bucket:
    volume = Volume(covered or seconds, received, 0, received_peak=received / (covered or seconds))
    return Bucket(TOTAL, LinkKind.TUNNEL, at, timedelta(seconds=seconds), volume)


class TestPlan:
    @pytest.mark.parametrize("wanted", list(TrafficRange))
    def test_has_at_most_so_many_points_and_ends_with_the_step_under_way(self, wanted: TrafficRange) -> None:
        grid = plan(wanted, NOW).grid
        assert grid.count <= MAX_POINTS
        assert grid.start < grid.end - grid.step <= NOW < grid.end
        length = {"h": timedelta(hours=1), "d": timedelta(days=1)}[wanted[-1]] * int(wanted[:-1])
        assert grid.step * grid.count == length

    def test_asks_for_the_same_instants_again(self) -> None:
        later = NOW + timedelta(seconds=20)
        assert plan(TrafficRange.HOURS_24, NOW).grid == plan(TrafficRange.HOURS_24, later).grid

    def test_without_samples_two_hours_come_from_the_archive(self) -> None:
        found = plan(TrafficRange.HOURS_2, NOW, raw=False)
        assert (found.source, found.grid.count) == (TrafficSource.ARCHIVE_5M, 24)


class TestSeries:
    def test_an_unmeasured_step_is_unknown_and_a_quiet_one_is_zero(self) -> None:
        grid = plan(TrafficRange.HOURS_6, NOW).grid
        drawn = Drawn(TOTAL, LinkKind.TUNNEL, [bucket(grid.start, 300, 0)], [])
        assert series(grid, drawn).points.received[:2] == [0.0, None]

    def test_averages_are_bytes_over_seconds(self) -> None:
        grid = plan(TrafficRange.HOURS_24, NOW).grid
        two = [bucket(grid.start, 300, 3000), bucket(grid.start + timedelta(seconds=300), 300, 300, 30)]
        found = series(grid, Drawn(TOTAL, LinkKind.TUNNEL, two, []))
        assert found.points.received[0] == pytest.approx(8 * 3300 / 330)
        assert found.points.received_peak[0] == pytest.approx(8 * 10)
        assert found.total.received_bytes == 3300

    def test_the_period_before_lies_on_the_same_points(self) -> None:
        grid = plan(TrafficRange.HOURS_6, NOW).grid
        before = [bucket(grid.start - timedelta(hours=6) + timedelta(minutes=10), 300, 300)]
        found = series(grid, Drawn(TOTAL, LinkKind.TUNNEL, [], before))
        assert found.points.previous_received[2] == pytest.approx(8)
        assert found.total.previous_received_bytes == 300
        assert found.total.received_bytes is None

    def test_a_sample_lies_over_every_step_that_it_spans(self) -> None:
        grid = plan(TrafficRange.HOURS_2, NOW).grid
        samples = [
            bucket(grid.start + timedelta(seconds=7), 31, 310),
            bucket(grid.start + timedelta(seconds=38), 60, 60),
        ]
        points = series(grid, Drawn(TOTAL, LinkKind.TUNNEL, samples, [])).points.received[:4]
        assert points == [pytest.approx(80), pytest.approx(8), pytest.approx(8), None]

    def test_missing_samples_stay_a_hole(self) -> None:
        grid = plan(TrafficRange.HOURS_2, NOW).grid
        samples = [bucket(grid.start, 30, 30), bucket(grid.start + timedelta(seconds=180), 30, 30)]
        points = series(grid, Drawn(TOTAL, LinkKind.TUNNEL, samples, [])).points.received
        assert points[1:6] == [None] * 5
        assert points[6] == pytest.approx(8)


class TestOfSamples:
    def test_what_lies_before_the_samples_comes_from_the_archive(self) -> None:
        archive = [bucket(NOW, 300, 1), bucket(NOW + timedelta(seconds=300), 300, 2)]
        samples = [bucket(NOW + timedelta(seconds=400), 30, 3)]
        assert of_samples(archive, samples) == ([archive[0], samples[0]], True)

    def test_samples_alone_are_not_degraded(self) -> None:
        samples = [bucket(NOW, 30, 3)]
        assert of_samples([bucket(NOW, 300, 1)], samples) == (samples, False)
