"""Every question and its answer, without a network."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.snapshot.service import SnapshotKeeper
from registry_server.whois.schemas import WhoisSettings
from registry_server.whois.service import WhoisService
from tests.integration.registry.network import FILES, aut_num, route, thing
from tests.integration.registry.upstream import Content
from tests.unit.registry_server.snapshots import snapshot_of

SNAPSHOT = snapshot_of(FILES)
END = b"\n\n\n"
NOTHING = b"%  No entries found for the selected source(s)."


class Kept:
    """What the service needs of the keeper."""

    def __init__(self, files: dict[str | bytes, Content] | None = None) -> None:
        self.current = SNAPSHOT if files is None else snapshot_of(files)


def service(files: dict[str | bytes, Content] | None = None, **settings: Any) -> WhoisService:
    return WhoisService(cast("SnapshotKeeper", Kept(files)), WhoisSettings(**settings))


def ask(*lines: str, of: WhoisService | None = None) -> bytes:
    """The answer to the last line, all asked on one connection."""
    asked = of or service()
    session = asked.begin()
    answer: bytes | None = None
    for line in lines:
        answer = asked.answer(session, line.encode())
    assert answer is not None
    return answer


def framed(text: str) -> bytes:
    return f"A{len(text.encode()) + 1}\n{text}\nC\n".encode()


def keys(answer: bytes) -> list[str]:
    """The first line of each object of a RIPE answer."""
    body = answer.removesuffix(END).split(b"\n\n", 1)[1]
    return [re.split(r":\s+", text.decode().split("\n")[0])[1] for text in body.split(b"\n\n")]


class TestSets:
    @pytest.mark.parametrize(
        ("question", "members"),
        [
            ("!iAS-TEST", "AS4242429901 AS4242429902 AS-GONE AS-SUB"),
            ("!iAS-TEST,1", "AS4242429901 AS4242429902 AS4242429903"),
            ("!ias-test,1", "AS4242429901 AS4242429902 AS4242429903"),
            ("!iAS-SUB,1", "AS4242429901 AS4242429902 AS4242429903"),
            ("!a4AS-TEST", "172.20.0.0/23 172.20.0.0/24 172.20.1.0/27"),
            ("!a6AS-TEST", "fd42:1::/48"),
            ("!aAS-TEST", "172.20.0.0/23 172.20.0.0/24 172.20.1.0/27 fd42:1::/48"),
        ],
    )
    def test_are_followed_through_every_cycle(self, question: str, members: str) -> None:
        assert ask(question) == framed(members)

    @pytest.mark.parametrize(
        "question",
        [
            "!iAS-NONE",
            "!iAS-NONE,1",
            "!iAS-EMPTY,1",
            "!iAS4242429901",
            "!a4AS-NONE",
            "!a4RS-TEST",
            "!iFOO-MNT",
        ],
    )
    def test_that_are_unknown_or_empty_are_nothing(self, question: str) -> None:
        assert ask(question) == b"D\n"

    def test_of_routes_list_ranges_in_their_regular_form_and_leave_out_what_is_wrong_or_too_wide(
        self,
    ) -> None:
        assert ask("!iRS-TEST") == framed("AS4242429903 AS-SUB RS-BELOW 172.20.0.0/16^+ 172.20.1.0/27")

    def test_of_routes_may_be_as_wide_as_the_operator_says(self) -> None:
        listed = ask("!iRS-TEST", of=service(range_limit=1 << 130)).decode()
        for member in ("fd00::/8^+", "fd42::/16^48-64", "fd42:9::/48^-"):
            assert member in listed
        assert "10.0.0.1" not in listed

    def test_of_routes_stand_for_the_prefixes_of_the_as_numbers_and_sets_in_them(self) -> None:
        assert ask("!iRS-TEST,1") == framed(
            "172.20.0.0/16^+ 172.20.0.0/23 172.20.0.0/24 172.20.1.0/27 172.22.0.0/24 fd42:1::/48"
        )

    def test_that_are_excluded_are_not_followed(self) -> None:
        assert ask("!eAS-SUB", "!iAS-TEST,1") == framed("AS4242429901 AS4242429902")
        assert ask("!eAS-SUB", "!e-lc") == framed("AS-SUB")
        assert ask("!e-lc") == b"C\n"
        assert ask("!eAS-SUB", "!e", "!iAS-SUB,1") == framed("AS4242429901 AS4242429902 AS4242429903")

    def test_admit_by_reference_only_whom_the_set_admits(self) -> None:
        files = {
            **FILES,
            "data/aut-num/AS4242429904": aut_num(4242429904, "member-of:AS-TEST").replace(
                b"FOO-MNT", b"BAR-MNT"
            ),
        }
        assert b"AS4242429904" not in ask("!iAS-TEST", of=service(files))

    def test_a_chain_of_thousands_is_followed_to_its_end(self) -> None:
        chain: dict[str | bytes, Content] = {
            f"data/as-set/AS-{number}": thing(
                "as-set", f"AS-{number}", f"members:AS-{number + 1}", f"members:AS{number}"
            )
            for number in range(5000)
        }
        assert len(ask("!iAS-0,1", of=service(chain)).split()) == 5000 + 2

    def test_as0_in_a_set_is_told_like_any_other(self) -> None:
        files: dict[str | bytes, Content] = {
            "data/as-set/AS-X": thing("as-set", "AS-X", "members:AS0, AS4294967295")
        }
        assert ask("!iAS-X,1", of=service(files)) == framed("AS0 AS4294967295")


class TestOrigins:
    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("!gAS4242429901", framed("172.20.0.0/24 172.20.1.0/27")),
            ("!gas4242429901", framed("172.20.0.0/24 172.20.1.0/27")),
            ("!gAS64734.22477", framed("172.20.0.0/24 172.20.1.0/27")),
            ("!6as4242429901", framed("fd42:1::/48")),
            ("!6AS4242429902", b"D\n"),
            ("!gAS0", b"D\n"),
            ("!gASx", b"F Invalid AS number ASX: number part is not numeric\n"),
            ("!gAS99999999999", b"F Invalid AS number AS99999999999: valid range is 0-4294967295\n"),
            ("!gAS1.65536", b"F Invalid AS number AS1.65536: valid range is 0-4294967295\n"),
            ("!g4242429901", b'F Invalid AS number 4242429901: must start with "AS"\n'),
            ("!g", b"F Missing parameter for g query\n"),
            ("!a", b"F Missing required set name for A query\n"),
            ("!a4", b"F Missing required set name for A query\n"),
        ],
    )
    def test_are_read_in_every_form(self, question: str, answer: bytes) -> None:
        assert ask(question) == answer

    def test_two_objects_that_say_the_same_are_told_once(self) -> None:
        same = route("172.20.0.0/24", 4242429901)
        files: dict[str | bytes, Content] = {
            "data/route/172.20.0.0_24": same,
            "data/route/172.20.0.0_24 ": same,
        }
        files["data/route/172.20.0.0_25"] = route("172.20.0.0/25", 4242429901, 4242429901)
        assert ask("!gAS4242429901", of=service(files)) == framed("172.20.0.0/24 172.20.0.0/25")


class TestRoutes:
    @pytest.mark.parametrize(
        ("question", "prefixes"),
        [
            ("!r172.20.0.0/24", ["172.20.0.0/24"]),
            ("!r172.20.0.0/24,l", ["172.20.0.0/23"]),
            ("!r172.20.0.0/24,L", ["172.20.0.0/24", "172.20.0.0/23"]),
            ("!r172.20.0.0/23,M", ["172.20.0.0/24", "172.20.1.0/27"]),
            ("!r172.20.0.1,L", ["172.20.0.0/24", "172.20.0.0/23"]),
            ("!rfd42:1::/48", ["fd42:1::/48"]),
        ],
    )
    def test_are_found_at_around_and_inside_a_block(self, question: str, prefixes: list[str]) -> None:
        assert re.findall(rb"^route6?: +(\S+)$", ask(question), re.MULTILINE) == [
            prefix.encode() for prefix in prefixes
        ]

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("!r172.20.0.0/24,o", framed("AS4242429901 AS4242429902")),
            ("!r172.20.0.1", b"D\n"),
            ("!r10.0.0.0/8", b"D\n"),
            ("!r172.20.0.1/24", b"F Invalid input for route search: 172.20.0.1/24\n"),
            ("!rnonsense", b"F Invalid input for route search: nonsense\n"),
            ("!r172.20.0.0/24,x", b"F Invalid route search option: x\n"),
        ],
    )
    def test_or_their_origins_or_nothing(self, question: str, answer: bytes) -> None:
        assert ask(question) == answer


class TestObjects:
    @pytest.mark.parametrize("path", [path for path in FILES if str(path).count("/") == 2])
    def test_are_told_byte_for_byte(self, path: str) -> None:
        raw = FILES[path]
        assert isinstance(raw, bytes)
        object_class = {"dns": "domain"}.get(path.split("/")[1], path.split("/")[1])
        key = path.split("/")[2]
        key = "/".join(key.rsplit("_", 1)) if object_class in {"inetnum", "route", "route6"} else key
        assert ask(f"!m{object_class},{key.lower()}") == framed(raw.decode().strip("\n"))

    @pytest.mark.parametrize(
        "key",
        [
            "172.20.0.0/24AS4242429902",
            "172.20.0.0/24-AS4242429902",
            "172.20.0.0/24 as4242429902",
            "172.20.0.0/24",
        ],
    )
    def test_a_route_is_found_with_its_origin_in_every_form(self, key: str) -> None:
        assert b"max-length:" in ask(f"!mroute,{key}")

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("!mroute,172.20.0.0/24AS4242429903", b"D\n"),
            ("!mnothing,FOO", b"D\n"),
            ("!mmntner,NO-MNT", b"D\n"),
            ("!mmntner", b"F Invalid argument for object lookup: mntner\n"),
            ("!oNO-MNT", b"D\n"),
        ],
    )
    def test_or_not_at_all(self, question: str, answer: bytes) -> None:
        assert ask(question) == answer

    def test_of_a_maintainer_are_told_together(self) -> None:
        assert ask("!o0baz-mnt") == ask("!mmntner,0BAZ-MNT")
        assert ask("!oFOO-MNT").count(b"mnt-by:             FOO-MNT") == len(FILES) - 3

    def test_carriage_returns_and_blank_ends_do_not_reach_the_framing(self) -> None:
        files: dict[str | bytes, Content] = {
            "data/mntner/A-MNT": b"\nmntner: A-MNT\r\nremarks: \xc3\xa4\r\nmnt-by: A-MNT\r\n"
            b"source: DN42\r\n\r\n",
        }
        text = "mntner: A-MNT\nremarks: ä\nmnt-by: A-MNT\nsource: DN42"
        assert ask("!mmntner,A-MNT", of=service(files)) == framed(text)

    def test_an_answer_that_is_too_long_closes_the_connection(self) -> None:
        asked = service(answer_bytes=1024)
        assert asked.answer(asked.begin(), b"!oFOO-MNT") is None


class TestStates:
    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("!!", b""),
            ("!n whatever", b"C\n"),
            ("!s-*", b"C\n"),
            ("!s-lc", b"A5\nDN42\nC\n"),
            ("!sdn42", b"C\n"),
            ("!sRIPE", b"F One or more selected sources are unavailable.\n"),
            ("!sDN42,RIPE", b"F One or more selected sources are unavailable.\n"),
            ("!jDN42", framed("DN42:N:-")),
            ("!j-*", framed("DN42:N:-")),
            ("!jNOPE", framed("NOPE:X:Database unknown")),
            ("!t10", b"C\n"),
            ("!t0", b"F Invalid value for timeout: 0\n"),
            ("!t1001", b"F Invalid value for timeout: 1001\n"),
            ("!t0001", b"C\n"),
            ("!t00010000000", b"F Invalid value for timeout: 00010000000\n"),
            ("!t\u0661", "F Invalid value for timeout: \u0661\n".encode()),
            ("!tx", b"F Invalid value for timeout: x\n"),
            ("!", b"F Missing IRRD command\n"),
            ("!x", b"F Unrecognised command: x\n"),
            ("", b""),
            ("   ", b""),
            ("-V whois !gAS4242429903", framed("172.20.0.0/23")),
            ("!gAS\x00", b"F Queries may not contain null bytes\n"),
        ],
    )
    def test_are_acknowledged(self, question: str, answer: bytes) -> None:
        assert ask(question) == answer

    def test_the_version_and_the_status_are_readable(self) -> None:
        assert re.fullmatch(rb"A\d+\nIRRd -- version \S+ \S+\nC\n", ask("!v"))
        status = json.loads(ask("!J-*").split(b"\n", 1)[1].removesuffix(b"\nC\n"))
        assert status["DN42"]["commit"] == "0123456789abcdef"

    def test_without_a_snapshot_the_connection_is_closed_and_nothing_said(self) -> None:
        asked = service()
        cast("Any", asked.snapshots).current = None
        assert asked.answer(asked.begin(), b"!gAS4242429901") is None

    def test_what_is_remembered_is_forgotten_with_its_snapshot(self) -> None:
        asked = service()
        assert ask("!gAS4242429903", of=asked) == framed("172.20.0.0/23")
        cast("Any", asked.snapshots).current = snapshot_of({})
        assert ask("!gAS4242429903", of=asked) == b"D\n"

    def test_what_is_remembered_does_not_outwit_an_exclusion(self) -> None:
        asked = service()
        ask("!iAS-TEST,1", of=asked)
        assert ask("!eAS-SUB", "!iAS-TEST,1", of=asked) == framed("AS4242429901 AS4242429902")
        assert ask("!iAS-TEST,1", of=asked) == framed("AS4242429901 AS4242429902 AS4242429903")


class TestRipe:
    @pytest.mark.parametrize(
        ("question", "found"),
        [
            ("as4242429901", ["AS4242429901", "AS4242420000 - AS4242429999"]),
            ("foo-mnt", ["FOO-MNT"]),
            ("0baz-mnt", ["0BAZ-MNT"]),
            ("foo.dn42", ["foo.dn42"]),
            ("foo-dn42", ["Foo Example"]),
            ("foo example", ["Foo Example"]),
            ("172.20.0.53", ["172.20.0.0 - 172.20.1.255", "172.20.0.0/24"]),
            ("172.20.0.0/24", ["172.20.0.0 - 172.20.1.255", "172.20.0.0/24"]),
            ("172.21.0.0/24", ["172.20.0.0 - 172.23.255.255"]),
            ("172.20.0.0 - 172.20.1.255", ["172.20.0.0 - 172.20.1.255", "172.20.0.0/23"]),
            ("-x 172.20.0.0-172.20.0.255", ["172.20.0.0/24"]),
            ("172.21.0.7 - 172.21.0.7", ["172.20.0.0 - 172.23.255.255"]),
            ("172.20.0.0/24as4242429902", ["172.20.0.0/24"]),
            ("172.20.0.0/24 - AS4242429902", ["172.20.0.0/24"]),
            ("fd42:1::/48AS4242429901", ["fd42:1::/48"]),
            (
                "-L 172.20.0.0/24",
                [
                    "172.20.0.0 - 172.20.1.255",
                    "172.20.0.0 - 172.23.255.255",
                    "172.20.0.0/24",
                    "172.20.0.0/23",
                ],
            ),
            ("-l 172.20.0.0/23", ["172.20.0.0 - 172.23.255.255"]),
            ("-M 172.20.0.0/23", ["172.20.0.0/24", "172.20.1.0/27"]),
            ("-m 172.20.0.0/14", ["172.20.0.0 - 172.20.1.255", "172.20.0.0/23"]),
            ("-x 172.20.0.0/23", ["172.20.0.0 - 172.20.1.255", "172.20.0.0/23"]),
            ("-T route -x 172.20.0.0/23", ["172.20.0.0/23"]),
            ("-T aut-num AS4242429901", ["AS4242429901"]),
            ("-i origin AS4242429902", ["172.20.0.0/24"]),
            ("-i member-of as-test", ["AS4242429902"]),
            ("-i admin-c,tech-c foo-dn42", ["AS4242429901"]),
            ("-i mnt-by 0baz-mnt", ["0BAZ-MNT"]),
            ("-B x -r  as-sub", ["AS-SUB"]),
            ("-rB as-sub", ["AS-SUB"]),
            ("-s DN42 as-sub", ["AS-SUB"]),
            ("-a as-sub", ["AS-SUB"]),
            ("-V Md5.5.17 as-sub", ["AS-SUB"]),
            ("-K as-sub", ["AS-SUB"]),
            (" as4242429903 ", ["AS4242429903", "AS4242420000 - AS4242429999"]),
        ],
    )
    def test_finds(self, question: str, found: list[str]) -> None:
        if question.startswith("-B x"):
            question = question.replace("-B x ", "-B ")
        assert keys(ask(question)) == found

    @pytest.mark.parametrize(
        "question",
        [
            "nothing-mnt",
            "-T foo as-sub",
            "-x 10.0.0.0/8",
            "-i mnt-by no-mnt",
            "xn--bcher-kva.dn42",
            "172.20.0.0/24AS4242429903",
            "172.20.0.0/24AS",
            "172.20.0.0 - 172.20.2.255",
            "172.20.1.0 - 172.20.0.0",
            "172.20.0.0 - fd42:1::",
        ],
    )
    def test_says_when_there_is_nothing(self, question: str) -> None:
        assert ask(question).endswith(b"\n\n" + NOTHING + END)

    @pytest.mark.parametrize(
        ("question", "block"),
        [("10.99.0.1/24", b"10.99.0.0/24"), ("-T route fd99::1/48", b"fd99::/48")],
    )
    def test_says_why_a_block_that_is_none_is_not_found(self, question: str, block: bytes) -> None:
        asked = question.rsplit(maxsplit=1)[-1].encode()
        reason = b"\n%%  %s: bits are set behind the length; the block is %s" % (asked, block)
        assert ask(question).endswith(b"\n\n" + NOTHING + reason + END)

    def test_shows_only_key_and_members_where_that_is_asked(self) -> None:
        assert ask("-K AS-TEST").split(b"\n\n", 1)[1] == (
            b"as-set: AS-TEST\nmembers: AS4242429901\nmembers: AS-SUB\nmembers: AS-GONE" + END
        )

    @pytest.mark.parametrize(
        "question",
        [
            "-Z foo",
            "-i",
            "-i nonsense FOO",
            "-t nonsense",
            "-q nonsense",
            "-s RIPE AS1",
            "-x nonsense",
            "-T route",
        ],
    )
    def test_refuses_what_it_does_not_understand(self, question: str) -> None:
        answer = ask(question)
        assert answer.startswith(b"%% ERROR: ")
        assert answer.endswith(END)

    def test_explains_classes_sources_and_itself(self) -> None:
        assert b"aut-num:            [mandatory]  [single]  [primary/lookup key]" in ask("-t aut-num ")
        assert b"\nDN42:3:N:0-1\n" in ask("-q sources ")
        assert b"routeloom" in ask("-q version ")
        assert b"as-set\n" in ask("-q types")

    def test_a_class_is_explained_by_the_schema_of_the_registry(self) -> None:
        raw = (
            b"schema:             PERSON-SCHEMA\nref:                dn42.person\n"
            b"key:                person required single schema > [name]\n"
            b"key:                nic-hdl required single primary > [handle]\n"
            b"key:                nick deprecate multiple\n"
        )
        end = b"mnt-by:             FOO-MNT\nsource:             DN42\n"
        of = service({"data/schema/PERSON-SCHEMA": raw + end})
        told = ask("-t person", of=of)
        assert b"nic-hdl:            [mandatory]  [single]  [primary/lookup key]\n" in told
        assert b"nick:               [deprecated]  [multiple]  []" in told
        assert b"[handle]" not in told
        assert b"nic-hdl:            [handle]" in ask("-v person", of=of)

    @pytest.mark.parametrize("question", ["help", "HELP", "?"])
    def test_who_asks_for_help_is_told_what_may_be_asked(self, question: str) -> None:
        told = ask(question)
        assert b"-i mnt-by FOO-MNT" in told
        assert told.endswith(END)
        assert all(line[:1] in {b"%", b""} for line in told.split(b"\n"))

    def test_an_object_that_is_called_help_comes_first(self) -> None:
        of = service({"data/person/HELP": thing("person", "Help", "nic-hdl:HELP")})
        assert b"nic-hdl:            HELP" in ask("help", of=of)

    def test_an_unknown_flag_is_told_the_remedy(self) -> None:
        assert b"ask for help" in ask("-Z foo")

    def test_never_sends_a_client_elsewhere(self) -> None:
        """whois follows such lines, whoever wrote them."""
        files: dict[str | bytes, Content] = {
            "data/person/A-DN42": thing("person", "A", "nic-hdl:A-DN42", "refer:whois.bad.example")
            + b"ReferralServer: whois://bad.example\n"
        }
        answer = ask("a-dn42", of=service(files))
        assert not re.search(rb"(?im)^(refer|referralserver|whois|% referto):", answer)
        assert b"bad.example" in answer


class TestAnything:
    @given(st.binary(max_size=200))
    def test_is_answered_closed_or_refused(self, line: bytes) -> None:
        asked = service()
        answer = asked.answer(asked.begin(), line.replace(b"\n", b""))
        assert answer is not None

    @given(st.sampled_from(sorted("!gt6aijmnorsevJfq")), st.text(max_size=60))
    def test_that_looks_like_a_query_is_framed_exactly(self, command: str, rest: str) -> None:
        answer = ask(f"!{command}{rest}".replace("\n", ""))
        head, _, body = answer.partition(b"\n")
        if head.startswith(b"A"):
            assert body.endswith(b"\nC\n")
            assert int(head[1:]) == len(body) - len(b"C\n")
        else:
            assert head[:1] in {b"C", b"D", b"F", b""}
