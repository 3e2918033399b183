"""What happened between two looks at a node, and whom it is charged to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from control_server.flaps.rules.looks import Happening, SeenNode, SeenSession, SessionBase
from control_server.flaps.rules.sessions import advance
from control_server.flaps.schemas import EventKind, Level, Pardon, SessionState, SubjectKind

UP, DOWN, DISABLED = SessionState.ESTABLISHED, SessionState.DOWN, SessionState.DISABLED
UNKNOWN = SessionState.UNKNOWN
START = 1_900_000_000.0
POLL = 300.0
HOLD_TIMER = "BGP Error: Hold timer expired"


def up(name: str = "f", since: float = START - 3600, **more: Any) -> SeenSession:
    return replace(SeenSession(name, UP, since), **more)


def down(name: str = "f", since: float = START + 100, error: str = HOLD_TIMER, **more: Any) -> SeenSession:
    return replace(SeenSession(name, DOWN, since, error=error), **more)


def look(at: float, *sessions: SeenSession, **more: Any) -> SeenNode:
    return replace(SeenNode(START + at, START + at, sessions), **more)


def follow(*looks: SeenNode) -> tuple[SessionBase, list[Happening]]:
    """Every look after the other, and all that happened."""
    base: SessionBase | None = None
    told: list[Happening] = []
    for seen in looks:
        found = advance(base, seen)
        base = found.base
        told += found.happenings
    assert base is not None
    return base, told


def charges(told: Sequence[Happening]) -> list[tuple[str, int]]:
    return [(happening.subject, happening.weight) for happening in told if happening.weight]


class TestDrops:
    def test_a_first_sight_charges_nobody(self) -> None:
        _, told = follow(look(0, up(), down("g")))
        assert told == []

    def test_leaving_established_is_charged_once(self) -> None:
        base, told = follow(look(0, up(), up("g")), look(POLL, down(), up("g")))
        assert charges(told) == [("f", 1000)]
        assert (told[0].event, told[0].reason) == (EventKind.LEFT, HOLD_TIMER)
        assert base.sessions["f"].tally.score.value == pytest.approx(1000)
        assert base.sessions["f"].tally.score.at == START + 100

    def test_staying_down_is_not_charged_again(self) -> None:
        _, told = follow(look(0, up(), up("g")), look(POLL, down(), up("g")), look(2 * POLL, down(), up("g")))
        assert charges(told) == [("f", 1000)]

    def test_coming_up_weighs_nothing_and_is_told(self) -> None:
        _, told = follow(
            look(0, up(), up("g")), look(POLL, down(), up("g")), look(2 * POLL, up("f", START + 400), up("g"))
        )
        assert [(h.event, h.weight) for h in told] == [(EventKind.LEFT, 1000), (EventKind.UP, 0)]

    def test_one_that_was_up_between_two_looks_at_it_down_fell_once_more(self) -> None:
        _, told = follow(
            look(0, up(), up("g")),
            look(POLL, down(), up("g")),
            look(2 * POLL, down("f", START + 500), up("g")),
        )
        assert charges(told) == [("f", 1000), ("f", 1000)]

    def test_a_snapshot_that_is_told_twice_is_charged_once(self) -> None:
        first, second = look(0, up(), up("g")), look(POLL, down(), up("g"))
        base, told = follow(first, second, second, replace(second, received_at=START + 2 * POLL))
        assert charges(told) == [("f", 1000)]
        assert base.sessions["f"].tally.events == 1

    def test_a_late_snapshot_changes_nothing(self) -> None:
        late = replace(look(POLL, up(), up("g")), received_at=START + 2 * POLL + 1)
        base, told = follow(look(0, up(), up("g")), look(2 * POLL, down("f", START + 500), up("g")), late)
        assert charges(told) == [("f", 1000)]
        assert base.sessions["f"].state is DOWN


class TestMissedFlaps:
    def test_a_session_that_was_down_between_two_looks_is_charged_once(self) -> None:
        """F2"""
        moved = START - 3600 + 90
        _, told = follow(
            look(0, up(), up("g")),
            look(POLL, up("f", moved), up("g")),
            look(2 * POLL, up("f", moved), up("g")),
        )
        assert [(h.subject, h.event, h.weight) for h in told] == [("f", EventKind.MISSED, 1000)]

    @pytest.mark.parametrize("moved", [-2, -0.5, 0.00007, 2, 5])
    def test_an_instant_that_is_computed_anew_has_not_moved(self, moved: float) -> None:
        """F1"""
        _, told = follow(look(0, up()), look(POLL, up(since=START - 3600 + moved)))
        assert told == []

    def test_creeping_never_adds_up_to_a_move(self) -> None:
        looks = [look(POLL * number, up(since=START - 3600 + number * 2)) for number in range(20)]
        assert follow(*looks)[1] == []

    def test_the_same_instant_as_a_date_has_not_moved(self) -> None:
        """F1: after twenty hours BIRD tells the date alone."""
        since = START - 3600
        midnight = since - since % 86400
        later = look(20 * 3600, up(since=midnight, precision=86400.0))
        base, told = follow(look(0, up(since=since)), later)
        assert told == []
        assert base.sessions["f"].since == since

    def test_what_came_up_since_the_last_look_has_moved_even_from_a_date(self) -> None:
        midnight = START - 80_000
        _, told = follow(
            look(0, up(since=midnight, precision=86400.0), up("g")),
            look(POLL, up(since=START + 200), up("g")),
        )
        assert charges(told) == [("f", 1000)]

    def test_counters_that_go_back_are_a_sign_of_their_own(self) -> None:
        _, told = follow(look(0, up(updates=900), up("g")), look(POLL, up(updates=30), up("g")))
        assert [(h.event, h.weight) for h in told] == [(EventKind.MISSED, 1000)]

    def test_both_signs_together_are_one_flap(self) -> None:
        _, told = follow(
            look(0, up(updates=900), up("g")), look(POLL, up(since=START + 200, updates=30), up("g"))
        )
        assert charges(told) == [("f", 1000)]

    def test_its_key_is_that_of_the_coming_up_that_it_was_found_by(self) -> None:
        seen = look(2 * POLL, up("f", START + 400), up("g"))
        _, both = follow(look(0, up(), up("g")), look(POLL, down(), up("g")), seen)
        _, missed = follow(look(0, up(), up("g")), seen)
        assert both[-1].key == missed[-1].key


class TestPardons:
    def test_our_own_disabling_weighs_nothing(self) -> None:
        """F3"""
        base, told = follow(
            look(0, up(), up("g")), look(POLL, SeenSession("f", DISABLED, START + 50), up("g"))
        )
        assert [(h.event, h.weight, h.reason_class) for h in told] == [(EventKind.DISABLED, 0, Pardon.OURS)]
        assert base.sessions["f"].state is DISABLED

    def test_nor_does_enabling_it(self) -> None:
        _, told = follow(
            look(0, SeenSession("f", DISABLED, START - 50), up("g")),
            look(POLL, down("f", START + 50), up("g")),
            look(2 * POLL, up("f", START + 400), up("g")),
        )
        assert charges(told) == []

    def test_a_restart_of_bird_charges_nobody(self) -> None:
        before = look(0, up(updates=5), up("g"), started_at=START - 9000)
        after = look(POLL, up(since=START + 99, updates=1), up("g", START + 98), started_at=START + 95)
        _, told = follow(before, after)
        assert charges(told) == []
        assert {h.reason_class for h in told} == {Pardon.DAEMON_RESTARTED}

    def test_an_applied_configuration_explains_what_nobody_else_is_named_for(self) -> None:
        before = look(0, up(), up("g"), up("h"), running="186-a")
        after = look(POLL, up("f", START + 90), down("g", error=""), down("h"), running="187-b")
        _, told = follow(before, after)
        assert charges(told) == [("h", 1000)]

    def test_maintenance_charges_nobody(self) -> None:
        _, told = follow(look(0, up()), look(POLL, down(), maintenance=True))
        assert [(h.weight, h.reason_class) for h in told] == [(0, Pardon.MAINTENANCE)]

    @pytest.mark.parametrize("step", [3600.0, -3600.0])
    def test_a_stepped_clock_charges_nobody(self, step: float) -> None:
        since = START - 7200
        before = look(0, up(since=since), up("g", since - 50))
        after = replace(
            look(POLL + step, up(since=since + step), up("g", since - 50 + step)), received_at=START + POLL
        )
        base, told = follow(before, after)
        assert charges(told) == []
        assert base.taken_at == START + POLL + step

    def test_what_really_fell_while_the_clock_stepped_is_charged(self) -> None:
        since, step = START - 7200, 3600.0
        before = look(0, up(since=since), up("g", since), up("h", since))
        sessions = (up(since=since + step), up("g", since + step), down("h", START + step + 10))
        after = replace(look(POLL + step, *sessions), received_at=START + POLL)
        base, told = follow(before, after)
        assert charges(told) == [("h", 1000)]
        assert base.sessions["h"].tally.score.at <= START + POLL

    def test_unknown_freezes_what_is_known(self) -> None:
        """F4"""
        base, told = follow(
            look(0, up(), up("g")),
            look(POLL, SeenSession("f", UNKNOWN), up("g")),
            look(2 * POLL, up(), up("g")),
        )
        assert told == []
        assert base.sessions["f"].state is UP

    def test_decay_goes_on_while_it_is_unknown(self) -> None:
        base, _ = follow(look(0, up(), up("g")), look(POLL, down(), up("g")), look(2 * POLL, up("g")))
        assert base.sessions["f"].state is UNKNOWN
        assert base.sessions["f"].tally.score.now(START + 100 + 1800) == pytest.approx(500)


class TestWholeNode:
    def test_most_sessions_at_once_charge_the_node_once(self) -> None:
        names = ["f", "g", "h", "i"]
        base, told = follow(
            look(0, *map(up, names)), look(POLL, *(down(name) for name in names[:3]), up("i"))
        )
        assert [(h.kind, h.weight) for h in told if h.weight] == [(SubjectKind.NODE, 1000)]
        assert [h.reason_class for h in told if h.kind is SubjectKind.SESSION] == [Pardon.NODE_WIDE] * 3
        assert base.node.score.value == pytest.approx(1000)
        assert all(base.sessions[name].tally.events == 0 for name in names)

    def test_half_of_them_are_charged_each(self) -> None:
        names = ["f", "g", "h", "i"]
        _, told = follow(look(0, *map(up, names)), look(POLL, down("f"), down("g"), up("h"), up("i")))
        assert sorted(charges(told)) == [("f", 1000), ("g", 1000)]

    def test_a_node_with_one_session_has_no_most(self) -> None:
        _, told = follow(look(0, up()), look(POLL, down()))
        assert charges(told) == [("f", 1000)]


class TestLevels:
    def test_crossing_is_told_with_the_event_that_crossed(self) -> None:
        looks = [look(0, up(), up("g"))]
        for number in range(4):
            at = 60.0 + number * 60
            looks.append(look(at, up("f", START + at - 5), up("g")))
        _, told = follow(*looks)
        assert [h.level for h in told] == [Level.STABLE, Level.STABLE, Level.NOISY, Level.FLAPPING]
        assert [round(h.after, 1) for h in told] == [1000.0, 1977.2, 2932.0, 3865.0]
        assert told[-1].level_before is Level.NOISY
        assert told[-1].clears_at is not None


class TestClocks:
    def test_a_node_with_a_wrong_clock_is_scored_by_ours(self) -> None:
        first = replace(look(-7200, up(), up("g")), received_at=START)
        second = replace(look(-7200 + POLL, down("f", START - 7200 + 100), up("g")), received_at=START + POLL)
        base, told = follow(first, second)
        assert charges(told) == [("f", 1000)]
        assert base.sessions["f"].tally.score.at == pytest.approx(START + 100)
