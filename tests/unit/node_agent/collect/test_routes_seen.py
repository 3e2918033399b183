"""What `show route` says, as BIRD 2.0.12 says it on its socket, and as 3.x names things."""

from datetime import UTC, datetime

from node_agent.bird.framing import Line, LineReader
from node_agent.bird.routes import RoaSeen, RouteSeen, read_roa, read_routes

NOW = datetime(2026, 2, 3, 12, 0, tzinfo=UTC)

ALL = b"""1007-Table master4:
 172.21.82.0/27       unreachable [rl_g 2026-02-03 11:00:17.778915 from 127.0.0.13] * (100) [AS4242429902i]
1008-\tType: BGP univ
1012-\tBGP.origin: IGP
 \tBGP.as_path: 4242429902
 \tBGP.next_hop: 127.0.0.13
 \tBGP.local_pref: 100
 \tBGP.large_community:\x20
1007-                     unicast [rl_f 2026-02-03 11:00:14.761562 from fe80::b] (100/20) [AS4242429955i]
 \tvia fe80::b on wg-f
1008-\tType: BGP univ
1012-\tBGP.origin: IGP
 \tBGP.as_path: 4242429901 {4242429956 4242429957} 4242429955
 \tBGP.next_hop: fd42:9901::1 fe80::b
 \tBGP.local_pref: 120
 \tBGP.community: (64511,7) (64511,22)
 \t\t(64511,33)
 \tBGP.large_community: (4242429900, 100, 3) (4242429900, 1101, 13)
1007-172.20.99.0/26       unreachable [rl_own4 2026-02-03] * (200)
1008-\tType: static univ
0000\x20
"""

MODERN = b"""1007-Table master4:
 172.21.82.0/27       unicast [rl_f 11:00:14.761 from fe80::b] * (100) [AS4242429955i]
 \tvia fe80::b on wg-f
1012-\tpreference: 100
 \tfrom: fe80::b
 \tsource: BGP
 \tbgp_origin: IGP
 \tbgp_path: 4242429901 4242429955
 \tbgp_next_hop: fe80::b
 \tbgp_local_pref: 100
 \tbgp_large_community: (4242429900, 1101, 14)
1008-\tInternal route handling values: 0L 30G 0S id 4
0000\x20
"""


def lines_of(data: bytes) -> list[Line]:
    reader = LineReader()
    found = [line for at in range(0, len(data), 7) for line in reader.feed(data[at : at + 7])]
    assert reader.ended
    return found


def seen(data: bytes) -> list[RouteSeen]:
    return list(read_routes(lines_of(data), NOW))


class TestReadRoutes:
    def test_gives_the_prefix_to_every_route_of_it(self) -> None:
        assert [(route.prefix, route.protocol, route.best) for route in seen(ALL)] == [
            ("172.21.82.0/27", "rl_g", True),
            ("172.21.82.0/27", "rl_f", False),
            ("172.20.99.0/26", "rl_own4", True),
        ]

    def test_reads_what_a_route_is_made_of(self) -> None:
        route = seen(ALL)[1]
        assert route.path == "4242429901 {4242429956 4242429957} 4242429955"
        assert (route.hops, route.origin, route.local_pref) == (3, 4242429955, 120)
        assert route.next_hop == "fe80::b"
        assert route.since.instant == datetime(2026, 2, 3, 11, 0, 14, 761562, tzinfo=UTC)
        assert route.attributes["community"] == "(64511,7) (64511,22) (64511,33)"

    def test_finds_the_reason_of_a_refusal(self) -> None:
        first, second, _ = seen(ALL)
        assert second.large(4242429900, 1101) == 13
        assert second.large(4242429901, 1101) is None
        assert first.large(4242429900, 1101) is None

    def test_a_route_that_is_not_by_bgp_has_no_origin_and_no_path(self) -> None:
        own = seen(ALL)[2]
        assert (own.origin, own.path, own.hops, own.local_pref) == (None, "", None, None)

    def test_both_versions_say_the_same(self) -> None:
        (route,) = seen(MODERN)
        assert (route.path, route.hops, route.local_pref) == ("4242429901 4242429955", 2, 100)
        assert (route.next_hop, route.large(4242429900, 1101)) == ("fe80::b", 14)

    def test_a_path_that_is_cut_has_its_origin_from_the_mark(self) -> None:
        cut = ALL.replace(b"4242429902\n \tBGP.next", b"4242429902 42424299...\n \tBGP.next")
        route = seen(cut)[0]
        assert (route.origin, route.hops) == (4242429902, None)

    def test_an_answer_without_routes_has_none(self) -> None:
        assert seen(b"0000 \n") == []
        assert seen(b"8001 Network not found\n") == []
        assert seen(b"9001 syntax error, unexpected CF_SYM_UNDEFINED\n") == []

    def test_asides_and_overflows_are_no_routes(self) -> None:
        noisy = ALL.replace(b"1012-\tBGP.origin", b"+log line\n8000-<line overflow>\n1012-\tBGP.origin", 1)
        assert len(seen(noisy)) == 3


class TestReadRoa:
    def test_reads_a_table_of_authorisations(self) -> None:
        table = b"1007-Table rl_roa4:\n 172.21.81.0/27-29 AS4242429801  [rl_rtr 2026-02-03] * (200)\n0000 \n"
        found = [read_roa(line) for line in lines_of(table)]
        assert found == [None, RoaSeen("172.21.81.0/27", 29, 4242429801), None]
