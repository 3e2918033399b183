"""How a node is, and what needs a person."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from control_server.flaps.rules.snapshots import sessions_of, state_of
from control_server.health.rules.findings import cannot_be_seen, finding_of, fleet_of, issues_of
from control_server.health.rules.judging import OBSERVED_WITHIN, judge
from control_server.health.rules.reports import is_silent, of_drift, of_snapshot, sessions_in
from control_server.health.schemas import (
    ApplyFacts,
    DriftFacts,
    NodeHealth,
    NodeView,
    PartName,
    ReportFacts,
    RoutingFacts,
    State,
    Stood,
)
from control_server.incidents.schemas import IncidentKind
from shared.protocol.fleet import (
    DriftItem,
    DriftSeverity,
    Part,
    ProtocolState,
    ReconciliationReport,
    RuntimeSnapshot,
    Sight,
    TunnelState,
)

NOW = datetime(2030, 1, 2, 12, tzinfo=UTC)
OWN, FOREIGN = 4242429900, 4242429901
SEEN = Part(sight=Sight.OBSERVED)


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


def protocol(name: str, state: str = "Established", *, asn: int = FOREIGN, **more: Any) -> ProtocolState:
    up = state == "Established"
    values: dict[str, Any] = {
        "state": "up" if up else "start",
        "error": "" if up else "Received: Hold timer expired",
        "error_class": None if up else "remote_notification",
        "since": ago(hours=1),
        **more,
    }
    return ProtocolState(name=name, kind="BGP", bgp_state=state, neighbor_asn=asn, **values)


def routing(*protocols: ProtocolState, at: datetime = NOW, **more: Any) -> RoutingFacts:
    snapshot = RuntimeSnapshot(**{"taken_at": at, "routing": SEEN, "protocols": protocols, **more})
    states = [(found, state_of(found)) for found in sessions_of(snapshot)]
    return of_snapshot(snapshot, sessions_in(snapshot, states, OWN), at, None)


def view(**more: Any) -> NodeView:
    values: dict[str, Any] = {
        "node_id": "r1",
        "site": "",
        "desired": 0,
        "changed_at": ago(days=1),
        "maintenance_reason": None,
        "maintenance_since": None,
        "liveness": "online",
        "heard_at": NOW,
        "connected_at": ago(hours=2),
        "memory_share": 0.4,
        "facts": ReportFacts(routing=routing(protocol("f"), protocol("g"))),
        "stood": {},
    }
    return NodeView(**values | more)


def part_of(health: NodeHealth, name: PartName) -> tuple[State, list[str]]:
    found = next(part for part in health.parts if part.part is name)
    return found.state, [reason.code for reason in found.reasons]


def codes(of: NodeView) -> list[str]:
    return [issue.kind for issue in issues_of(of, judge(of, NOW), NOW)]


class TestOverall:
    def test_all_well_is_ok(self) -> None:
        health = judge(view(), NOW)
        assert (health.state, health.reasons) == (State.OK, [])
        assert (health.sessions.established, health.sessions.total) == (2, 2)

    @pytest.mark.parametrize(
        ("liveness", "state", "code"),
        [
            ("stale", State.STALE, "agent_stale"),
            ("offline", State.DOWN, "agent_offline"),
            ("unknown", State.UNKNOWN, "never_reported"),
        ],
    )
    def test_the_link_says_its_own(self, liveness: str, state: State, code: str) -> None:
        found = view(liveness=liveness, facts=ReportFacts(), memory_share=None)
        health = judge(found, NOW)
        assert (health.state, [reason.code for reason in health.reasons]) == (state, [code])

    def test_the_worst_part_decides(self) -> None:
        facts = ReportFacts(drift=DriftFacts(count=1, since=ago(hours=1)), routing=routing(protocol("f")))
        health = judge(view(liveness="offline", facts=facts), NOW)
        assert health.state is State.DOWN
        assert [reason.code for reason in health.reasons] == ["agent_offline", "drift"]

    def test_a_node_that_only_probes_is_well(self) -> None:
        assert judge(view(facts=ReportFacts()), NOW).state is State.OK

    def test_maintenance_covers_the_rest_and_hides_no_reason(self) -> None:
        health = judge(
            view(liveness="offline", maintenance_since=ago(hours=1), maintenance_reason="disk"), NOW
        )
        assert (health.state, health.since) == (State.MAINTENANCE, ago(hours=1))
        assert next(reason.code for reason in health.reasons) == "agent_offline"

    def test_since_is_what_stood_while_the_state_stands(self) -> None:
        stood = {
            name: Stood(state=state, since=ago(hours=5))
            for name, state in (("overall", State.DEGRADED), ("configuration", State.DEGRADED))
        }
        facts = ReportFacts(drift=DriftFacts(count=2, since=ago(minutes=3)))
        health = judge(view(facts=facts, stood=stood), NOW)
        assert (health.state, health.since) == (State.DEGRADED, ago(hours=5))


class TestConfiguration:
    @pytest.mark.parametrize(("status", "code"), [("failed", "apply_failed"), ("paused", "agent_paused")])
    def test_an_apply_that_did_not_end_well(self, status: str, code: str) -> None:
        facts = ReportFacts(
            apply=ApplyFacts(generation=7, status=status, detail="refused", at=ago(minutes=1))
        )
        health = judge(view(facts=facts, desired=7), NOW)
        assert part_of(health, PartName.CONFIGURATION) == (State.DEGRADED, [code])

    def test_nothing_is_known_of_the_configuration_of_a_node_that_never_reported(self) -> None:
        health = judge(view(facts=ReportFacts(), liveness="unknown", connected_at=None, heard_at=None), NOW)
        assert part_of(health, PartName.CONFIGURATION) == (State.UNKNOWN, [])

    def test_nor_of_one_that_is_heard_and_has_applied_nothing(self) -> None:
        health = judge(view(facts=ReportFacts(), desired=0), NOW)
        assert part_of(health, PartName.CONFIGURATION) == (State.UNKNOWN, [])
        assert health.state is State.OK

    def test_a_generation_that_nobody_tries_is_late_after_two_heartbeats(self) -> None:
        facts = ReportFacts(apply=ApplyFacts(generation=7, status="applied", at=ago(hours=1)))
        fresh = judge(view(facts=facts, desired=8, changed_at=ago(seconds=100)), NOW)
        late = judge(view(facts=facts, desired=8, changed_at=ago(seconds=160)), NOW)
        assert part_of(fresh, PartName.CONFIGURATION) == (State.OK, [])
        assert part_of(late, PartName.CONFIGURATION) == (State.DEGRADED, ["generation_behind"])

    def test_drift_that_matters_counts_since_it_began(self) -> None:
        def item(severity: DriftSeverity) -> DriftItem:
            return DriftItem(subject="session:f", severity=severity, desired="up", observed="missing")

        def report(*severities: DriftSeverity) -> ReconciliationReport:
            return ReconciliationReport(generation=1, checked_at=NOW, items=tuple(map(item, severities)))

        before = DriftFacts(count=1, since=ago(hours=1))
        assert of_drift(report(DriftSeverity.INFO), before) is None
        found = of_drift(report(DriftSeverity.WARNING, DriftSeverity.CRITICAL), before)
        assert found is not None
        assert (found.count, found.since) == (2, ago(hours=1))


class TestRouting:
    def test_one_foreign_session_is_its_own_issue_and_no_degraded_node(self) -> None:
        """F5: with BIRD's own words, kept and classified."""
        found = view(facts=ReportFacts(routing=routing(protocol("f"), protocol("g", "Active"))))
        assert judge(found, NOW).state is State.OK
        issues = issues_of(found, judge(found, NOW), NOW)
        assert [(i.kind, i.subject, i.detail) for i in issues] == [
            ("session_down", "g", "Received: Hold timer expired")
        ]

    def test_all_of_them_are_a_degraded_node(self) -> None:
        facts = ReportFacts(routing=routing(protocol("f", "Active"), protocol("g", "Connect")))
        assert part_of(judge(view(facts=facts), NOW), PartName.ROUTING) == (
            State.DEGRADED,
            ["all_neighbours_down"],
        )

    def test_so_is_one_of_our_own(self) -> None:
        facts = ReportFacts(routing=routing(protocol("f"), protocol("ibgp_r2", "Active", asn=OWN)))
        health = judge(view(facts=facts), NOW)
        assert part_of(health, PartName.ROUTING) == (State.DEGRADED, ["own_session_down"])

    def test_a_session_that_we_disabled_is_not_down(self) -> None:
        """F3"""
        off = protocol("g", "Down", error="", error_class="disabled")
        found = view(facts=ReportFacts(routing=routing(protocol("f"), off)))
        health = judge(found, NOW)
        assert (health.state, health.sessions.disabled, health.sessions.down) == (State.OK, 1, 0)
        assert codes(found) == []

    def test_polls_that_stop_make_sessions_unknown(self) -> None:
        """F4, F6: and where the agent speaks all the while, the watching itself is degraded."""
        old = ReportFacts(
            routing=routing(protocol("f", "Active"), at=NOW - OBSERVED_WITHIN - timedelta(seconds=1))
        )
        speaking, silent = view(facts=old), view(facts=old, liveness="offline")
        for found in (speaking, silent):
            health = judge(found, NOW)
            assert (health.sessions.unknown, health.sessions.down) == (1, 0)
        assert codes(speaking) == ["monitoring_degraded"]
        assert codes(silent) == ["agent_offline"]
        assert cannot_be_seen(judge(silent, NOW))
        assert not cannot_be_seen(judge(speaking, NOW))

    def test_a_bird_that_does_not_answer_is_said_since_when(self) -> None:
        gone = Part(sight=Sight.UNAVAILABLE, reason="no such socket")
        first = of_snapshot(RuntimeSnapshot(taken_at=ago(minutes=9), routing=gone), [], ago(minutes=9), None)
        again = of_snapshot(RuntimeSnapshot(taken_at=NOW, routing=gone), [], NOW, first)
        health = judge(view(facts=ReportFacts(routing=again)), NOW)
        assert part_of(health, PartName.ROUTING) == (State.DEGRADED, ["bird_unavailable"])
        assert next(part.since for part in health.parts if part.part is PartName.ROUTING) == ago(minutes=9)

    def test_nothing_is_expected_of_the_bird_of_a_node_that_does_not_route(self) -> None:
        gone = Part(sight=Sight.UNAVAILABLE, reason="no such socket")
        facts = of_snapshot(RuntimeSnapshot(taken_at=NOW, routing=gone), [], NOW, None)
        health = judge(view(facts=ReportFacts(routing=facts), routes=False), NOW)
        assert part_of(health, PartName.ROUTING) == (State.UNKNOWN, [])
        assert (health.state, health.reasons) == (State.OK, [])


class TestTunnels:
    @pytest.mark.parametrize(
        ("age", "keepalive", "sent", "silent"),
        [
            (170, None, 10, False),
            (170, 25, 20, False),
            (400, None, 10, False),
            (400, 25, 10, True),
            (400, None, 20, True),
        ],
    )
    def test_only_one_that_should_be_heard_is_silent(
        self, age: int, keepalive: int | None, sent: int, silent: bool
    ) -> None:
        """G6: 170 s without traffic is no fault."""
        tunnel = TunnelState(
            interface="wg-f",
            peer_public_key="k",
            latest_handshake=ago(seconds=age),
            keepalive=keepalive,
            sent_bytes=sent,
        )
        assert is_silent(tunnel, NOW, 10) is silent


class TestHost:
    def test_little_memory_and_a_wrong_clock_are_said(self) -> None:
        facts = ReportFacts(routing=routing(protocol("f")).model_copy(update={"taken_at": ago(minutes=5)}))
        health = judge(view(facts=facts, memory_share=0.97), NOW)
        assert part_of(health, PartName.HOST) == (State.DEGRADED, ["memory_low", "clock_off"])


class TestFleet:
    def test_the_worst_stands_first_and_what_is_in_maintenance_last(self) -> None:
        views = [
            view(node_id="a"),
            view(node_id="b", liveness="offline"),
            view(node_id="c", liveness="offline", maintenance_since=ago(hours=1)),
            view(node_id="d", liveness="stale"),
        ]
        judged = [judge(found, NOW) for found in views]
        issues = [
            issue for one, health in zip(views, judged, strict=True) for issue in issues_of(one, health, NOW)
        ]
        fleet = fleet_of(judged, issues, NOW)
        assert [node.node_id for node in fleet.nodes] == ["b", "d", "c", "a"]
        assert [(issue.node_id, issue.muted) for issue in fleet.issues] == [
            ("b", False),
            ("d", False),
            ("c", True),
        ]
        assert (fleet.total, fleet.online, fleet.sessions.established) == (4, 1, 8)
        assert fleet.counts[State.DOWN] == 1

    def test_what_may_become_an_incident_and_what_is_watched_elsewhere(self) -> None:
        found = view(facts=ReportFacts(routing=routing(protocol("f"), protocol("g", "Active"))))
        (issue,) = issues_of(found, judge(found, NOW), NOW)
        finding = finding_of(issue, NOW)
        assert finding is not None
        assert (finding.kind, finding.subject, finding.since) == (
            IncidentKind.SESSION_DOWN,
            "g",
            ago(hours=1),
        )
        lost = view(liveness="offline", facts=ReportFacts())
        assert [finding_of(i, NOW) for i in issues_of(lost, judge(lost, NOW), NOW)] == [None]
