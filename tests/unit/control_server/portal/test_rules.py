"""What pages derive from what features say."""

from datetime import UTC, datetime, timedelta

from control_server.health.schemas import FleetHealth, NodeHealth, PartHealth, PartName, SessionCounts, State
from control_server.incidents.schemas import IncidentKind, IncidentRead, Severity
from control_server.portal import rules
from control_server.portal.schemas import Flow
from control_server.traffic.schemas import PointsRead, SeriesRead, TotalsRead
from shared.kernel.ids import new_uuid
from shared.protocol.reports import LinkKind

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)


def node(
    name: str, configuration: State = State.OK, *, sessions: int = 0, state: State = State.OK
) -> NodeHealth:
    return NodeHealth(
        node_id=name,
        state=state,
        reasons=[],
        liveness="online",
        parts=[PartHealth(part=PartName.CONFIGURATION, state=configuration)],
        sessions=SessionCounts(established=sessions),
    )


def points(received: list[float | None], before: list[float | None]) -> PointsRead:
    nothing: list[float | None] = [None] * len(received)
    return PointsRead(
        received=received,
        sent=received,
        received_peak=nothing,
        sent_peak=nothing,
        previous_received=before,
        previous_sent=before,
    )


def series(received: list[float | None]) -> SeriesRead:
    total = TotalsRead(
        received_bytes=1,
        sent_bytes=1,
        previous_received_bytes=None,
        previous_sent_bytes=None,
        measured_share=1.0,
    )
    return SeriesRead(
        interface="*",
        peer="",
        kind=LinkKind.OTHER,
        start=NOON,
        step_seconds=300,
        points=points(received, received),
        total=total,
    )


class TestConfiguration:
    def test_counts_those_in_sync_among_those_that_have_said_something(self) -> None:
        found = rules.configuration_of(
            [node("one"), node("two", State.DEGRADED), node("three", State.UNKNOWN), node("four")]
        )
        assert (found.in_sync, found.reporting, found.others) == (2, 3, {"degraded": 1})


class TestCells:
    def test_are_one_a_session_and_the_good_ones_first(self) -> None:
        cells = rules.cells_of(SessionCounts(established=2, down=1, disabled=1, unknown=1))
        assert [cell.value for cell in cells] == ["up", "up", "down", "unknown", "maintenance"]


class TestCoarser:
    def test_each_point_is_the_mean_of_what_was_measured(self) -> None:
        found = rules.coarser(series([1.0, 3.0, None, 5.0, None, None, 8.0]), 4)
        assert found.points.received == [2.0, 5.0, None, 8.0]
        assert (found.step_seconds, rules.instants(found)[1]) == (600, NOON + timedelta(minutes=10))

    def test_a_series_that_is_coarse_enough_stays(self) -> None:
        given = series([1.0, 2.0])
        assert rules.coarser(given, 2) is given


class TestLatest:
    def test_is_the_newest_point_that_was_measured(self) -> None:
        assert rules.latest(points([1.0, 3.0, None], [None, 2.0, 9.0])) == Flow(3.0, 3.0, 0.5)

    def test_is_nothing_where_nothing_was_measured(self) -> None:
        assert rules.latest(points([None, None], [1.0, 1.0])) is None

    def test_has_no_change_without_a_period_before(self) -> None:
        assert rules.latest(points([3.0], [None])) == Flow(3.0, 3.0, None)


class TestWorst:
    def test_shows_nodes_that_are_well_and_have_no_sessions_last(self) -> None:
        nodes = [node("idle"), node("busy", sessions=3), node("lost", state=State.DOWN)]
        health = FleetHealth(
            generated_at=NOON,
            total=3,
            counts={},
            online=3,
            sessions=SessionCounts(),
            nodes=nodes,
            issues=[],
        )
        shown = rules.worst(health, 2)
        assert ([each.node_id for each in shown.items], shown.total) == (["busy", "lost"], 3)


class TestTold:
    def test_tells_an_incident_when_it_opened_and_when_it_closed(self) -> None:
        incident = IncidentRead(
            id=new_uuid(),
            kind=IncidentKind.DRIFT,
            node_id="one",
            subject="",
            severity=Severity.WARNING,
            opened_at=NOON,
            closed_at=NOON + timedelta(minutes=5),
            began_at=NOON,
        )
        found = rules.told([], [], [incident])
        assert [(each.kind, each.at) for each in found] == [
            ("closed", NOON + timedelta(minutes=5)),
            ("opened", NOON),
        ]
