"""A node that does not exist, and what can be known of it."""

from routeloom.simulate.node import SimulatedNode
from routeloom.simulate.plan import TICK, Plan
from routeloom.simulate.truth import Truth
from shared.protocol.reports import Validity

PLAN = Plan(nodes=2, sessions=4, prefixes=100)


def node(index: int = 0) -> SimulatedNode:
    return SimulatedNode(PLAN, index, Truth())


class TestCounters:
    def test_are_the_same_for_the_same_plan(self) -> None:
        one, other = node(), node()
        for each in (one, other):
            each.flow()
        assert one.sample(TICK) == other.sample(TICK)

    def test_of_the_uplink_are_those_of_all_tunnels(self) -> None:
        router = node()
        before = router.sample(0)
        router.flow()
        grown = [
            now.received_bytes - then.received_bytes
            for now, then in zip(router.sample(TICK).counters, before.counters, strict=True)
        ]
        assert grown[-1] == sum(grown[:-1]) > 0

    def test_that_begin_anew_openly_have_another_epoch(self) -> None:
        router = node()
        before = router.sample(0).counters[0]
        router.counters_begin_anew(0, openly=True)
        after = router.sample(TICK).counters[0]
        assert (after.received_bytes, after.epoch == before.epoch) == (0, False)

    def test_that_begin_anew_secretly_have_the_same_epoch(self) -> None:
        router = node()
        before = router.sample(0).counters[0]
        router.counters_begin_anew(0, openly=False)
        assert router.sample(TICK).counters[0].epoch == before.epoch


class TestClock:
    def test_moves_instants_of_the_past_when_it_is_set(self) -> None:
        router = node()
        before = router.snapshot(0).protocols[0].since
        router.clock_ahead = 600
        after = router.snapshot(0).protocols[0].since
        assert before is not None
        assert after is not None
        assert (after - before).total_seconds() == 600


class TestTruth:
    def test_counts_what_two_samples_in_a_row_tell(self) -> None:
        router = node()
        router.truth.sampled(router.name, router.sample(0), 0)
        router.flow()
        router.truth.sampled(router.name, router.sample(TICK), TICK)
        assert router.truth.meter(router.name, "eth0").told.received > 0

    def test_counts_nothing_before_the_first_sample(self) -> None:
        router = node()
        router.flow()
        router.truth.sampled(router.name, router.sample(0), 0)
        assert router.truth.meter(router.name, "eth0").told.received == 0

    def test_counts_nothing_over_a_long_silence(self) -> None:
        router = node()
        router.truth.sampled(router.name, router.sample(0), 0)
        router.flow()
        router.truth.sampled(router.name, router.sample(120), 120)
        assert router.truth.meter(router.name, "eth0").told.received == 0

    def test_counts_nothing_where_counters_began_anew(self) -> None:
        router = node()
        router.truth.sampled(router.name, router.sample(0), 0)
        router.flow()
        router.reboot(10)
        router.truth.sampled(router.name, router.sample(TICK), TICK)
        assert router.truth.meter(router.name, "eth0").told.received == 0


class TestTable:
    def test_has_every_prefix_while_all_sessions_are_up(self) -> None:
        assert node().table.known(node().up) == set(range(100))

    def test_shares_half_of_its_prefixes_with_its_neighbour(self) -> None:
        both = node(0).table.known(node(0).up) & node(1).table.known(node(1).up)
        assert len(both) == 50

    def test_keeps_a_prefix_that_another_session_tells_of(self) -> None:
        router = node()
        router.fall([0], 60)
        assert router.table.known(router.up) == set(range(100))
        assert [route.protocol for route in router.table.routes(0, router.up)] == ["peer02"]

    def test_loses_a_prefix_that_nobody_tells_of(self) -> None:
        router = node()
        router.fall([0, 1], 60)
        assert 0 not in router.table.known(router.up)
        assert router.table.routes(0, router.up) == []

    def test_filters_what_is_invalid(self) -> None:
        router = node(0)
        (first, *_) = router.table.routes(0, router.up)
        assert (first.validity, first.filtered, first.best) == (Validity.INVALID, True, False)
