"""Which ROA follows from a route: each row of the table of cases, with a filter like that of a registry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.numbers import parse_prefix
from registry_server.roas.rules.derivation import derive
from registry_server.roas.rules.filters import parse_filter
from registry_server.roas.schemas import FilterRule, Roa, RoaProblem, RoaProblemCode
from registry_server.snapshot.schemas.content import Origin

FILTER4 = b"""\
# nr  action  prefix            min max
10    permit  10.0.0.0/8        15  24   # all other private addresses
1     deny    172.22.166.0/24   24  32
2     permit  172.20.0.53/32    28  32
3     permit  172.20.0.0/14     21  29
4     permit  10.100.0.0/14     14  32
99    deny    0.0.0.0/0         0   32
"""
FILTER6 = b"1 deny fdd6:6302:7c04::/48 48 64\n2 permit fd00::/8 44 64\n9 deny ::/0 0 128\n"
RULES: dict[int, list[FilterRule]] = {4: parse_filter(FILTER4, 4)[0], 6: parse_filter(FILTER6, 6)[0]}


def origin(prefix: str, max_length: int | None = None, asn: int = 4242429901, entry: int = 0) -> Origin:
    return Origin(parse_prefix(prefix), asn, max_length, entry)


def derived(*origins: Origin) -> tuple[list[str], list[RoaProblemCode]]:
    roas, problems = derive(origins, RULES)
    shown = [f"{roa.prefix}-{roa.max_length} AS{roa.origin}" for roa in roas]
    return shown, [problem.code for problem in problems]


class TestDerive:
    @pytest.mark.parametrize(
        ("prefix", "max_length", "expected", "remark"),
        [
            ("172.20.0.0/24", None, 29, None),
            ("172.20.0.0/24", 26, 26, None),
            ("172.20.0.0/24", 32, 29, RoaProblemCode.MAX_LENGTH_LOWERED),
            ("172.20.0.0/16", 18, 21, RoaProblemCode.MAX_LENGTH_RAISED),
            ("172.20.0.0/24", 23, None, RoaProblemCode.MAX_LENGTH_TOO_SHORT),
            ("172.20.0.0/16", None, 29, RoaProblemCode.SHORTER_THAN_RULE),
            ("172.20.1.0/30", None, None, RoaProblemCode.TOO_LONG),
            ("172.22.166.0/25", None, None, RoaProblemCode.DENIED),
            ("192.0.2.0/24", None, None, RoaProblemCode.DENIED),
            ("172.20.0.53/32", None, 32, None),
            ("fd42:1::/48", None, 64, None),
            ("fd42:1::/48", 128, 64, RoaProblemCode.MAX_LENGTH_LOWERED),
            ("fd42:1::/112", None, None, RoaProblemCode.TOO_LONG),
            ("fd42::/32", None, 64, RoaProblemCode.SHORTER_THAN_RULE),
            ("fdd6:6302:7c04:1::/64", None, None, RoaProblemCode.DENIED),
            ("2001:db8::/32", None, None, RoaProblemCode.DENIED),
        ],
    )
    def test_follows_the_table(
        self, prefix: str, max_length: int | None, expected: int | None, remark: RoaProblemCode | None
    ) -> None:
        roas, remarks = derived(origin(prefix, max_length))
        assert roas == ([] if expected is None else [f"{prefix}-{expected} AS4242429901"])
        assert remarks[-1:] == ([] if remark is None else [remark])

    def test_makes_the_longest_of_each_filter_and_not_one_for_all(self) -> None:
        """A network beside the common range may announce what is too long in it."""
        roas, _ = derived(origin("10.100.1.0/26"), origin("10.100.1.128/32"), origin("10.1.0.0/24"))
        assert roas == [
            "10.1.0.0/24-24 AS4242429901",
            "10.100.1.0/26-32 AS4242429901",
            "10.100.1.128/32-32 AS4242429901",
        ]

    def test_looks_at_the_first_and_the_last_address(self) -> None:
        """The aggregate begins before the denied block and goes on behind it: the rule around it decides."""
        assert derived(origin("172.22.160.0/20"))[0] == ["172.22.160.0/20-29 AS4242429901"]

    def test_makes_one_roa_for_each_origin_and_none_twice(self) -> None:
        twice = [origin("172.20.0.0/24", entry=1), origin("172.20.0.0/24", entry=2)]
        roas, _ = derived(*twice, origin("172.20.0.0/24", asn=4242429902))
        assert roas == ["172.20.0.0/24-29 AS4242429901", "172.20.0.0/24-29 AS4242429902"]

    def test_makes_one_for_as0_too(self) -> None:
        assert derived(origin("172.20.0.0/24", asn=0))[0] == ["172.20.0.0/24-29 AS0"]

    def test_sorts_by_family_address_length_and_origin(self) -> None:
        made = derived(
            origin("fd42:1::/48"),
            origin("172.20.0.0/24", asn=4294967295),
            origin("172.20.0.0/24", asn=4),
            origin("172.20.0.0/23"),
            origin("172.20.0.0/25"),
        )[0]
        assert [text.split("-")[0] for text in made] == [
            "172.20.0.0/23",
            "172.20.0.0/24",
            "172.20.0.0/24",
            "172.20.0.0/25",
            "fd42:1::/48",
        ]
        assert made[1].endswith(" AS4")

    def test_makes_none_without_a_filter(self) -> None:
        roas, problems = derive([origin("172.20.0.0/24")], {4: [], 6: []})
        assert (roas, [problem.code for problem in problems]) == ([], [RoaProblemCode.NO_RULE])

    @given(
        st.integers(0, 2**32 - 1),
        st.integers(0, 32),
        st.none() | st.integers(0, 32),
    )
    def test_every_roa_is_one_that_bird_and_validators_take(
        self, address: int, length: int, max_length: int | None
    ) -> None:
        network = address >> (32 - length) << (32 - length)
        text = ".".join(str(byte) for byte in network.to_bytes(4))
        roas, _ = derive([origin(f"{text}/{length}", max_length)], RULES)
        assert all(roa.length <= roa.max_length <= 32 for roa in roas)


class TestFilter:
    def test_sorts_by_number_and_takes_the_first_match(self) -> None:
        assert [rule.number for rule in RULES[4]] == [1, 2, 3, 4, 10, 99]

    @pytest.mark.parametrize(
        "line",
        [
            b"1 allow 10.0.0.0/8 15 24",
            b"1 permit 10.0.0.0/8 15",
            b"x permit 10.0.0.0/8 15 24",
            b"1 permit 10.0.0.1/8 15 24",
            b"1 permit fd00::/8 44 64",
            b"1 permit 10.0.0.0/8 25 24",
            b"1 permit 10.0.0.0/8 15 33",
            b"1 permit 10.0.0.0/8 15 \xff",
        ],
    )
    def test_reports_and_leaves_out_what_is_no_rule(self, line: bytes) -> None:
        rules, problems = parse_filter(b"\n# a remark\n" + line + b"\n5 deny 0.0.0.0/0 0 32\n", 4)
        assert [rule.number for rule in rules] == [5]
        assert [type(problem) for problem in problems] == [RoaProblem]
        assert "line 3" in problems[0].detail

    @given(st.binary(max_size=300))
    def test_reads_whatever_there_is(self, raw: bytes) -> None:
        parse_filter(raw, 6)


def test_a_roa_sorts_as_it_is_listed() -> None:
    shorter = Roa(4, b"\x0a\x00\x00\x00", 8, 1, 8, "10.0.0.0/8")
    assert sorted([shorter._replace(length=9), shorter]) == [shorter, shorter._replace(length=9)]
