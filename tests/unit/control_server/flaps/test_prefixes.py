"""What a prefix report charges, and what it says of the rate."""

import pytest

from control_server.flaps.rules.prefixes import (
    MOST_PREFIXES,
    PrefixBase,
    Reported,
    SeenChange,
    SeenReport,
    active_until,
    report,
)
from control_server.flaps.schemas import ChangeKind, Level, SubjectKind

START = 1_900_000_200.0
PREFIX = "172.20.0.0/24"


def told(number: int, *changes: SeenChange, at: float | None = None, **more: bool) -> SeenReport:
    instant = START + number * 60 if at is None else at
    return SeenReport(number, instant, changes, len(changes), **more)


def change(kind: ChangeKind = ChangeKind.CHANGED, prefix: str = PREFIX, at: float = START) -> SeenChange:
    return SeenChange(prefix, kind, at, "" if kind is ChangeKind.WITHDRAWN else "f 4242429901")


def follow(*reports: SeenReport, base: PrefixBase | None = None) -> list[Reported]:
    found = []
    for seen in reports:
        found.append(report(base, seen))
        base = found[-1].base
    return found


class TestCharges:
    @pytest.mark.parametrize(
        ("kind", "score"),
        [(ChangeKind.WITHDRAWN, 1000), (ChangeKind.CHANGED, 500), (ChangeKind.ANNOUNCED, 0)],
    )
    def test_each_kind_has_its_weight(self, kind: ChangeKind, score: float) -> None:
        base = follow(told(1, change(kind)))[-1].base
        value = base.prefixes[PREFIX].tally.score.value if score else 0
        assert value == score
        assert score or PREFIX not in base.prefixes

    def test_a_report_that_comes_twice_is_charged_once(self) -> None:
        one, two = told(1, change()), told(2, change(at=START + 60))
        found = follow(one, two, two, one)
        assert [step.taken for step in found] == [True, True, False, False]
        assert found[-1].base.prefixes[PREFIX].tally.events == 2

    def test_reports_that_workers_finish_in_another_order_are_all_charged(self) -> None:
        one, two, three = (told(n, change(at=START + n * 60)) for n in (1, 2, 3))
        in_order = follow(one, two, three)[-1].base.prefixes[PREFIX].tally
        otherwise = follow(three, one, two)[-1].base.prefixes[PREFIX].tally
        assert otherwise.score.value == pytest.approx(in_order.score.value)
        assert otherwise.score.at == in_order.score.at

    def test_a_first_sight_charges_nothing(self) -> None:
        found = follow(told(1, change(ChangeKind.WITHDRAWN), pardoned=True))[-1]
        assert found.base.prefixes == {}
        assert found.bucket is None

    def test_crossing_a_level_is_told(self) -> None:
        withdrawals = [told(n, change(ChangeKind.WITHDRAWN, at=START + n * 60)) for n in range(1, 6)]
        happenings = [happening for step in follow(*withdrawals) for happening in step.happenings]
        assert [h.level for h in happenings] == [Level.NOISY, Level.FLAPPING]
        assert {(h.kind, h.subject) for h in happenings} == {(SubjectKind.PREFIX, PREFIX)}

    def test_the_paths_between_which_it_changes_are_kept(self) -> None:
        paths = ["f 1", "g 2", "f 1", "h 3"]
        reports = [
            told(n, SeenChange(PREFIX, ChangeKind.CHANGED, START + n, path)) for n, path in enumerate(paths)
        ]
        assert follow(*reports)[-1].base.prefixes[PREFIX].paths == ("f 1", "h 3")


class TestBounds:
    def test_what_has_fallen_below_fifty_is_not_kept(self) -> None:
        """500 is below 50 after 3.33 half-lives."""
        base = follow(told(1, change()), told(2, at=START + 5900))[-1].base
        assert PREFIX in base.prefixes
        assert follow(told(3, at=START + 6000), base=base)[-1].base.prefixes == {}

    def test_of_too_many_those_with_the_lowest_scores_go(self) -> None:
        many = [change(prefix=f"fd42:{n:x}::/48") for n in range(MOST_PREFIXES)]
        worse = [change(ChangeKind.WITHDRAWN, prefix=f"10.{n}.0.0/16") for n in range(10)]
        kept = follow(told(1, *many, *worse))[-1].base.prefixes
        assert len(kept) == MOST_PREFIXES
        assert all(item.prefix in kept for item in worse)

    def test_it_is_known_until_when_somebody_may_want_to_see_it(self) -> None:
        base = follow(told(1, change()))[-1].base
        until = active_until(entry.tally for entry in base.prefixes.values())
        assert until is not None
        assert base.prefixes[PREFIX].tally.score.now(until) == pytest.approx(50)
        assert active_until([]) is None


class TestRates:
    def test_a_round_without_a_base_counts_no_rate(self) -> None:
        first, second = follow(
            told(1, change()), told(2, change(), change(ChangeKind.WITHDRAWN, "10.0.0.0/8"))
        )
        assert first.bucket is None
        assert second.bucket is not None
        bucket = second.bucket
        assert (bucket.seconds, bucket.updates, bucket.withdrawals, bucket.changes) == (60, 2, 1, 1)
        assert bucket.at % 300 == 0

    def test_a_quiet_round_is_a_rate_of_zero(self) -> None:
        assert follow(told(1), told(2))[-1].bucket is not None

    def test_a_hole_is_not_smeared_over(self) -> None:
        assert follow(told(1), told(2, at=START + 60 + 181))[-1].bucket is None

    def test_what_came_while_the_agent_was_away_is_no_rate(self) -> None:
        found = follow(told(1), told(2, change(), rated=False))[-1]
        assert found.bucket is None
        assert PREFIX in found.base.prefixes
