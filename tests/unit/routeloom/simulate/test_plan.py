"""What a plan makes happen: always the same, and each fault by itself."""

from itertools import pairwise

from routeloom.simulate.course import Act, Charge, course
from routeloom.simulate.plan import SNAPSHOT_EVERY, FaultKind, Plan, schedule

DAY = Plan(nodes=5, hours=24)


class TestSchedule:
    def test_is_the_same_for_the_same_seed(self) -> None:
        assert schedule(DAY) == schedule(Plan(nodes=5, hours=24))

    def test_is_another_for_another_seed(self) -> None:
        assert schedule(DAY) != schedule(Plan(nodes=5, hours=24, seed=2))

    def test_has_every_kind_of_fault_within_a_day(self) -> None:
        assert {fault.kind for fault in schedule(DAY)} == set(FaultKind)

    def test_has_only_the_kinds_that_are_wanted(self) -> None:
        wanted = frozenset({FaultKind.SESSION_DROP})
        assert {fault.kind for fault in schedule(Plan(hours=12, faults=wanted))} == wanted

    def test_has_none_where_none_is_wanted(self) -> None:
        assert schedule(Plan(hours=12, faults=frozenset())) == []

    def test_keeps_the_beginning_and_the_end_quiet(self) -> None:
        steps = course(DAY, schedule(DAY))
        assert steps[0].at >= SNAPSHOT_EVERY
        assert steps[-1].at <= DAY.seconds - 2 * SNAPSHOT_EVERY


class TestCourse:
    def test_is_in_order_of_time(self) -> None:
        steps = course(DAY, schedule(DAY))
        assert all(one.at <= other.at for one, other in pairwise(steps))

    def test_lets_a_snapshot_come_between_two_falls_of_a_session(self) -> None:
        for node in range(DAY.nodes):
            falls = [s.at for s in course(DAY, schedule(DAY)) if s.node == node and s.act is Act.FALL]
            assert all(other - one > SNAPSHOT_EVERY for one, other in pairwise(falls))

    def test_charges_no_session_for_what_concerns_all_of_them(self) -> None:
        for step in course(DAY, schedule(DAY)):
            if step.act is Act.FALL and len(step.places) > 1:
                assert step.charge is not Charge.SESSION

    def test_lets_every_session_rise_that_fell(self) -> None:
        down: set[tuple[int, int]] = set()
        for step in course(DAY, schedule(DAY)):
            places = {(step.node, place) for place in step.places}
            if step.act is Act.FALL:
                down |= places
            elif step.act is Act.RISE:
                down -= places
        assert not down
