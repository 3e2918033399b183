"""How the hot state is written, how large it is, and what two keepers know together."""

import random

import pytest

from control_server.flaps.rules.joining import Kept, join_prefixes, join_sessions
from control_server.flaps.rules.looks import SeenNode, SeenSession, SessionBase
from control_server.flaps.rules.prefixes import MOST_PREFIXES, PrefixBase, SeenChange, SeenReport, report
from control_server.flaps.rules.sessions import advance
from control_server.flaps.rules.writing import read_prefixes, read_sessions, write_prefixes, write_sessions
from control_server.flaps.schemas import ChangeKind, SessionState
from control_server.keys import BGP_FLAPS, PREFIX_FLAPS
from shared.cache import codec

START = 1_900_000_000.0
#: What a blob of the whole table measured, least and most.
SPECIFIED = (115_000, 164_000)
#: Prefixes of a table at which those sizes were measured.
TABLE = 1600


def session_base(count: int, looks: int) -> SessionBase:
    """Sessions of which some fell."""
    dice, base = random.Random(count), None  # noqa: S311 - not a secret
    since = {f"peer_{n}_v{4 + 2 * (n % 2)}": START - 9000 - n for n in range(count)}
    for turn in range(looks):
        at = START + 300 * turn
        for name in dice.sample(sorted(since), count // 4):
            since[name] = at - dice.random() * 200
        seen = [
            SeenSession(
                name, SessionState.ESTABLISHED, instant, 0.001, 4242429900 + n, "", "", dice.randrange(90_000)
            )
            for n, (name, instant) in enumerate(since.items())
        ]
        base = advance(base, SeenNode(at, at + 0.2, seen, START - 86_400, 0, "186-3f2a")).base
    assert base is not None
    return base


def prefix_base(count: int, rounds: int = 3) -> PrefixBase:
    """As many prefixes as that, every one of which changed in every round, at random."""
    dice, base = random.Random(count), None  # noqa: S311 - not a secret
    table = {_prefix(dice, n): 4_242_420_000 + dice.randrange(1_000) for n in range(count)}
    for number in range(rounds):
        at = START + 60 * number
        changes = tuple(
            SeenChange(prefix, dice.choice(_KINDS), at - dice.random() * 60, _path(dice, origin))
            for prefix, origin in table.items()
        )
        base = report(base, SeenReport(number, at, changes, len(changes))).base
    assert base is not None
    return base


_KINDS = [ChangeKind.CHANGED, ChangeKind.WITHDRAWN]


def _prefix(dice: random.Random, number: int) -> str:
    if number % 3:
        return f"fd{dice.randrange(256):02x}:{dice.randrange(65536):x}:{dice.randrange(65536):x}::/48"
    host = f"172.{dice.randrange(20, 24)}.{dice.randrange(256)}.{dice.randrange(16) * 16}"
    return f"{host}/{dice.randrange(24, 29)}"


def _path(dice: random.Random, origin: int) -> str:
    """By one of twenty neighbours, over one of sixty who carry others, to the prefix's own network."""
    hops = (4_242_421_000 + dice.randrange(20), 4_242_422_000 + dice.randrange(60), origin)
    return " ".join([f"peer_{dice.randrange(20)}", *map(str, hops)])


class TestSize:
    def test_the_whole_table_flapping_takes_at_most_half_of_what_is_specified(self) -> None:
        size = len(codec.encode(PREFIX_FLAPS, write_prefixes(prefix_base(TABLE))))
        assert size <= SPECIFIED[0] / 2, size

    def test_as_many_prefixes_as_there_may_be_fit_the_key(self) -> None:
        size = len(codec.encode(PREFIX_FLAPS, write_prefixes(prefix_base(MOST_PREFIXES))))
        assert PREFIX_FLAPS.cap is not None
        assert size < PREFIX_FLAPS.cap, size

    def test_it_grows_with_the_prefixes_and_not_faster(self) -> None:
        small, large = (len(codec.encode(PREFIX_FLAPS, write_prefixes(prefix_base(n)))) for n in (400, 1600))
        assert large < small * 4.4

    @pytest.mark.parametrize("sessions", [9, 26])
    def test_sessions_take_next_to_nothing(self, sessions: int) -> None:
        size = len(codec.encode(BGP_FLAPS, write_sessions(session_base(sessions, 6))))
        assert size < 6_000, size


class TestReading:
    def test_sessions_come_back_as_they_were_written(self) -> None:
        written = write_sessions(session_base(26, 6))
        assert write_sessions(read_sessions(written)) == written

    def test_prefixes_come_back_as_they_were_written(self) -> None:
        written = write_prefixes(prefix_base(200))
        assert write_prefixes(read_prefixes(written)) == written

    def test_nothing_comes_back_as_nothing(self) -> None:
        assert read_prefixes(write_prefixes(PrefixBase(taken_at=START))).prefixes == {}

    def test_no_score_is_lost_by_it(self) -> None:
        base = prefix_base(50)
        again = read_prefixes(write_prefixes(base))
        for prefix, entry in base.prefixes.items():
            assert again.prefixes[prefix].tally.score.now(START + 200) == pytest.approx(
                entry.tally.score.now(START + 200), abs=0.2
            )


class TestTogether:
    def test_what_sql_counted_from_nothing_is_added(self) -> None:
        changes = [
            SeenReport(n, START + 60 * n, (SeenChange("10.0.0.0/8", ChangeKind.CHANGED, START + 60 * n),), 1)
            for n in range(6)
        ]
        whole = tier = table = None
        for number, seen in enumerate(changes):
            whole = report(whole, seen).base
            if number < 3:
                tier = report(tier, seen).base
            else:
                table = report(table, seen).base
        joined = join_prefixes(tier, table, Kept(START + 180))
        assert joined is not None
        assert whole is not None
        now = START + 400
        expected = whole.prefixes["10.0.0.0/8"].tally
        found = joined.prefixes["10.0.0.0/8"].tally
        assert found.score.now(now) == pytest.approx(expected.score.now(now))
        assert found.events == expected.events

    def test_where_sql_knew_all_of_it_it_is_the_whole_truth(self) -> None:
        older, newer = session_base(4, 2), session_base(4, 5)
        assert join_sessions(older, newer, Kept(None)) is newer
        assert join_sessions(newer, older, Kept(None)) is newer
        assert join_sessions(None, older, Kept(None)) is older
        assert join_sessions(older, None, Kept(None)) is older
        assert join_sessions(None, None, Kept(None)) is None
