import contextlib
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_server.probes import rules
from control_server.probes.schemas import NodeFacts, Position
from shared.kernel.errors import InvalidInput
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.targets import parse_target
from shared.protocol.frames import ProbeDone
from shared.protocol.probes import ProbeLimits, ProbeReason, ProbeState, TargetRules, Tool

NOW = datetime(2030, 1, 1, tzinfo=UTC)
FINAL = [state for state in ProbeState if state.final]
#: Any text, halves of surrogate pairs included, as JSON can carry it.
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


class TestText:
    @given(ANY_TEXT, st.integers(1, 200))
    def test_a_line_fits_and_can_be_stored(self, text: str, limit: int) -> None:
        clipped, cut = rules.clip(text, limit)
        assert len(clipped.encode()) <= limit
        assert "\x00" not in clipped
        assert cut == (clipped != rules.clean_text(text))

    @given(
        st.recursive(st.none() | st.booleans() | st.floats() | ANY_TEXT, lambda x: st.lists(x, max_size=3))
    )
    def test_a_summary_can_be_stored(self, value: object) -> None:
        cleaned = rules.clean_summary({"value": value})
        assert cleaned is None or "nan" not in repr(cleaned).replace("'", "").split()

    def test_a_summary_without_end_is_dropped(self) -> None:
        deep: dict[str, object] = {}
        for _ in range(50):
            deep = {"deeper": deep}
        assert rules.clean_summary(deep) is None
        assert rules.clean_summary({"many": [0] * 100_000}) is None


class TestShares:
    @given(st.integers(10, 4000), st.integers(1, 50))
    def test_shares_with_their_marks_fit_in_the_whole(self, lines: int, nodes: int) -> None:
        each = rules.share_of(ProbeLimits(lines=lines), nodes).lines
        assert each >= 1
        assert (each + 1) * nodes <= max(lines, 2 * nodes)


class TestOutcomes:
    @pytest.mark.parametrize(
        ("code", "error", "state", "reason"),
        [
            (0, None, ProbeState.DONE, None),
            (1, None, ProbeState.DONE, None),
            (2, None, ProbeState.FAILED, ProbeReason.TOOL_FAILED),
            (None, None, ProbeState.FAILED, ProbeReason.TOOL_FAILED),
            (None, ProbeReason.CANCELLED, ProbeState.CANCELLED, ProbeReason.CANCELLED),
            (None, ProbeReason.DEADLINE, ProbeState.EXPIRED, ProbeReason.DEADLINE),
            (0, ProbeReason.OUTPUT_LIMIT, ProbeState.FAILED, ProbeReason.OUTPUT_LIMIT),
        ],
    )
    def test_the_last_word_of_an_agent(
        self, code: int | None, error: ProbeReason | None, state: ProbeState, reason: ProbeReason | None
    ) -> None:
        done = ProbeDone(probe_id=uuid4(), exit_code=code, error=error, last_seq=3)
        outcome = rules.outcome_of(done, Tool.PING)
        assert (outcome.state, outcome.reason) == (state, reason)

    @given(st.lists(st.sampled_from(FINAL), min_size=1))
    def test_a_probe_went_well_if_it_went_well_anywhere(self, states: list[ProbeState]) -> None:
        ending = rules.overall([(state, None) for state in states])
        assert ending.state in states
        assert (ending.state is ProbeState.DONE) == (ProbeState.DONE in states)


class TestOverdue:
    LIMITS = timedelta(seconds=10), timedelta(seconds=60)

    @pytest.mark.parametrize(
        ("state", "after", "expected"),
        [
            (ProbeState.ACCEPTED, 9, None),
            (ProbeState.ACCEPTED, 10, ProbeReason.NOT_STARTED),
            (ProbeState.RUNNING, 64, None),
            (ProbeState.RUNNING, 65, ProbeReason.DEADLINE),
        ],
    )
    def test_time_runs_out(self, state: ProbeState, after: int, expected: ProbeReason | None) -> None:
        started = NOW if state is ProbeState.RUNNING else None
        at = NOW + timedelta(seconds=after)
        assert rules.overdue((state, started), (NOW, None), self.LIMITS, at) is expected

    def test_a_cancelled_one_has_a_moment_to_say_goodbye(self) -> None:
        share, probe = (ProbeState.RUNNING, NOW), (NOW, NOW)
        assert rules.overdue(share, probe, self.LIMITS, NOW + timedelta(seconds=4)) is None
        late = rules.overdue(share, probe, self.LIMITS, NOW + rules.CANCEL_GRACE)
        assert late is ProbeReason.CANCELLED


class TestObstacles:
    def facts(self, **changes: object) -> NodeFacts:
        values = {
            "node_id": "alpha",
            "connected": True,
            "tools": frozenset({"ping"}),
            "targets": TargetRules(),
            "running": 0,
        }
        return NodeFacts(**{**values, **changes})  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({}, None),
            ({"connected": False}, ProbeReason.NODE_OFFLINE),
            ({"tools": frozenset()}, ProbeReason.TOOL_MISSING),
            ({"running": 3}, ProbeReason.BUSY),
            ({"targets": TargetRules(deny=(ip_network("192.0.2.0/24"),))}, ProbeReason.TARGET_REFUSED),
        ],
    )
    def test_each_has_its_reason(self, changes: dict[str, object], expected: ProbeReason | None) -> None:
        outcome = rules.obstacle(self.facts(**changes), Tool.PING, parse_target("192.0.2.1"), 3)
        assert (outcome.reason if outcome else None) is expected

    def test_what_is_allowed_wins_over_what_is_denied(self) -> None:
        extra = TargetRules(deny=(ip_network("192.0.2.0/24"),))
        policy = rules.targets_of("clearnet", extra, (["192.0.2.1/32", "127.0.0.0/8"], []))
        assert rules.target_refusal(parse_target("192.0.2.1"), policy) is None
        assert rules.target_refusal(parse_target("127.0.0.1"), policy) is None
        assert rules.target_refusal(parse_target("192.0.2.2"), policy) is not None
        assert rules.target_refusal(parse_target("10.0.0.1"), policy) is not None


class TestMissing:
    def test_nothing_is_missing_while_it_runs_or_when_all_is_stored(self) -> None:
        assert rules.missing(ProbeState.RUNNING, [None], (5, 0)) is None
        assert rules.missing(ProbeState.DONE, [None], (5, 5)) is None

    def test_lost_lines_are_counted(self) -> None:
        assert "2 of 5" in (rules.missing(ProbeState.FAILED, [None], (5, 3)) or "")


class TestPositions:
    @given(st.text(alphabet="bcdfghjk234", min_size=1, max_size=8), st.integers(0, 10**9))
    def test_an_event_id_can_be_read_back(self, epoch: str, seq: int) -> None:
        assert rules.parse_position(rules.event_id(epoch, seq)) == Position(epoch, seq)

    @given(st.text())
    def test_whatever_a_client_sends_is_a_position_or_none(self, text: str) -> None:
        rules.parse_position(text)

    @given(st.datetimes(timezones=st.just(UTC)), st.uuids())
    def test_a_cursor_can_be_read_back(self, at: datetime, ident: UUID) -> None:
        assert rules.decode_cursor(rules.encode_cursor(at, ident)) == (at, ident)

    @given(st.text())
    def test_whatever_a_client_sends_is_a_cursor_or_refused(self, text: str) -> None:
        with contextlib.suppress(InvalidInput):
            rules.decode_cursor(text)


class TestPermissions:
    @pytest.mark.parametrize(("role", "own", "other"), [("viewer", True, False), ("operator", True, True)])
    def test_viewers_cancel_only_their_own(self, role: str, own: bool, other: bool) -> None:
        caller = Principal.of_role("me", PrincipalKind.PERSON, "me", Role(role))
        assert rules.may_cancel(caller, "me") is own
        assert rules.may_cancel(caller, "you") is other
