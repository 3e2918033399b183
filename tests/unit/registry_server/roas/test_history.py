"""What routers are told of changes."""

from hypothesis import given
from hypothesis import strategies as st

from registry_server.roas.rules.history import History
from registry_server.roas.schemas import Roa


def roa(number: int) -> Roa:
    return Roa(4, bytes([10, number, 0, 0]), 16, 4242429901, 24, f"10.{number}.0.0/16")


ALL = [roa(number) for number in range(6)]
SETS = st.lists(st.frozensets(st.sampled_from(ALL)), min_size=1, max_size=8)


class TestHistory:
    def test_the_serial_rises_with_a_change_and_with_nothing_else(self) -> None:
        history = History(7, frozenset(ALL[:2]), most=8)
        assert not history.advance(ALL[:2])
        assert history.serial == 7
        assert history.advance(ALL[:3])
        assert history.serial == 8

    def test_the_serial_wraps(self) -> None:
        history = History(2**32 - 1, frozenset(), most=8)
        history.advance(ALL[:1])
        assert history.serial == 0
        change = history.since(2**32 - 1)
        assert change is not None
        assert change.announced == {ALL[0]}

    def test_what_is_too_old_or_never_was_is_not_known(self) -> None:
        history = History(100, frozenset(), most=2)
        for number in range(1, 6):
            history.advance(ALL[:number])
        assert history.since(102) is None
        assert history.since(103) is not None
        assert history.since(106) is None
        assert history.since(5) is None

    def test_a_difference_larger_than_the_whole_is_not_kept(self) -> None:
        many = [Roa(4, number.to_bytes(4), 32, 1, 32, "") for number in range(4000)]
        history = History(1, frozenset(many), most=64)
        history.advance(())
        assert history.since(1) is None

    @given(SETS)
    def test_the_net_difference_leads_from_each_known_serial_to_the_present(
        self, sets: list[frozenset[Roa]]
    ) -> None:
        history = History(2**32 - 3, sets[0], most=64)
        held = {history.serial: sets[0]}
        for some in sets[1:]:
            history.advance(some)
            held[history.serial] = some
        for serial, before in held.items():
            change = history.since(serial)
            assert change is not None
            assert change.withdrawn <= before
            assert not change.announced & before
            assert (before | change.announced) - change.withdrawn == sets[-1]
