"""What filter generators and whois clients say and hear, byte for byte, and what breaks them."""

from __future__ import annotations

import asyncio
import re

import pytest

from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire, ask_once, bgpq4, whois
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import route
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
LIST = b"A5\nDN42\nC\n"
ROUTES4 = b"A28\n172.20.0.0/24 172.20.1.0/27\nC\n"


class TestFilterGenerators:
    async def test_one_as_number(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n")
            await wire.ask(b"!nbgpq4 1.9\n", b"C\n")
            await wire.ask(b"!s-lc\n", LIST)
            await wire.ask(b"!sDN42\n", b"C\n")
            await wire.ask(b"!gas4242429901\n", ROUTES4)
            wire.send(b"!q\n")
            assert await wire.rest() == b""

    async def test_a_set_in_one_question(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n")
            await wire.ask(b"!nbgpq4 1.9\n", b"C\n")
            await wire.ask(b"!a\n", b"F Missing required set name for A query\n")
            await wire.ask(b"!s-lc\n", LIST)
            await wire.ask(b"!a6AS-TEST\n", b"A12\nfd42:1::/48\nC\n")
            await wire.ask(b"!a4AS-TEST\n", b"A42\n172.20.0.0/23 172.20.0.0/24 172.20.1.0/27\nC\n")
            await wire.ask(b"!sDN42\n", b"C\n")
            wire.send(b"!q\n")
            assert await wire.rest() == b""

    async def test_a_set_step_by_step(self, served: Served) -> None:
        """The pairs of the walk without recursion, several to a segment."""
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n!nbgpq4 1.9\n!sDN42\n!iAS-TEST\n!sDN42\n!iAS-SUB\n")
            first = b"C\nA41\nAS4242429901 AS4242429902 AS-GONE AS-SUB\nC\n"
            second = b"C\nA21\nAS4242429903 AS-TEST\nC\n"
            assert await wire.read(2 + len(first + second)) == b"C\n" + first + second

    async def test_answers_that_are_read_once_come_in_one_piece(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n")
            for question, answer in (
                (b"!nbgpq4 1.9\n", b"C\n"),
                (b"!a\n", b"F Missing required set name for A query\n"),
                (b"!s-lc\n", LIST),
                (b"!sRIPE\n", b"F One or more selected sources are unavailable.\n"),
                (b"!gas4242429901\n", ROUTES4),
            ):
                wire.send(question)
                assert await wire.once() == answer

    async def test_questions_of_one_segment_are_answered_in_order_and_in_one_piece(
        self, served: Served
    ) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n!gAS4242429903\n!6AS4242429901\n!gAS1\n!iAS-EMPTY\n")
            assert await wire.once() == b"A14\n172.20.0.0/23\nC\nA12\nfd42:1::/48\nC\nD\nD\n"

    async def test_the_list_of_sources_fits_what_clients_read(self, served: Served) -> None:
        answer = await ask_once(served.whois, b"!s-lc\n")
        assert answer.startswith(b"A")
        assert answer.endswith(b"C\n")
        assert len(answer) <= 255

    async def test_thousands_of_questions_are_answered_while_more_come(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n" + b"!gAS4242429901\n!gAS1\n" * 5000)
            assert await wire.read(5000 * (len(ROUTES4) + 2)) == (ROUTES4 + b"D\n") * 5000

    async def test_a_single_question_ends_the_connection(self, served: Served) -> None:
        assert await ask_once(served.whois, b"!gAS4242429901\n!gAS4242429901\n") == ROUTES4

    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\n\r\n", b""])
    async def test_any_end_of_a_line_will_do(self, served: Served, end: bytes) -> None:
        assert await ask_once(served.whois, b"!gAS4242429901" + end, half_close=True) == ROUTES4

    async def test_what_comes_in_pieces_is_put_together(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            for piece in (b"!", b"!\n!gAS42", b"424299", b"01\n"):
                wire.send(piece)
                await wire.writer.drain()
                await asyncio.sleep(0)
            assert await wire.read(len(ROUTES4)) == ROUTES4

    async def test_both_loopback_addresses_are_served(self, served: Served) -> None:
        async with await Wire.to(served.whois, "::1") as wire:
            wire.send(b"!gAS4242429901\n")
            assert await wire.rest() == ROUTES4


class TestReadiness:
    async def test_before_the_first_sync_connections_are_closed_and_no_failure_is_said(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        """A refusal would make an empty filter of it, and a status of success."""
        async with serving(registries, upstream, None) as served:
            async with await Wire.to(served.whois) as wire:
                wire.send(b"!!\n!gAS4242429901\n")
                assert await wire.rest() == b""
            ended = await bgpq4(served.whois, "-p", "-4", "AS4242429901")
            assert ended.status != 0
            assert ended.output == ""

    async def test_a_sync_is_seen_at_once_on_a_connection_that_was_open(self, served: Served) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n")
            await wire.ask(b"!gAS4242429904\n", b"D\n")
            await served.commit({"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)})
            await wire.ask(b"!gAS4242429904\n", b"A14\n172.20.9.0/24\nC\n")
            await served.commit({"data/route/172.20.9.0_24": None})
            await wire.ask(b"!gAS4242429904\n", b"D\n")

    async def test_the_first_question_after_a_restart_is_answered_from_what_was_synced(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream):
            pass
        async with serving(registries, upstream, None) as again:

            async def answered() -> bool:
                return await ask_once(again.whois, b"!gAS4242429901\n") == ROUTES4

            await wait_until(answered)


class TestDebianPrograms:
    @pytest.mark.parametrize(
        ("arguments", "prefixes"),
        [
            (("-4", "AS4242429901"), ["172.20.0.0/24", "172.20.1.0/27"]),
            (("-6", "AS4242429901"), ["fd42:1::/48"]),
            (("-4", "AS-TEST"), ["172.20.0.0/23", "172.20.0.0/24", "172.20.1.0/27"]),
            (("-6", "AS-TEST"), ["fd42:1::/48"]),
            (("-4", "-L", "2", "AS-TEST"), ["172.20.0.0/23", "172.20.0.0/24", "172.20.1.0/27"]),
            (("-4", "-S", "DN42", "AS-SUB"), ["172.20.0.0/23", "172.20.0.0/24", "172.20.1.0/27"]),
            (("-4", "-T", "AS4242429901"), ["172.20.0.0/24", "172.20.1.0/27"]),
            (("-6", "RS-BELOW"), ["fd42:1::/48"]),
            (("-4", "AS4242429909"), []),
        ],
    )
    async def test_bgpq4_makes_lists(
        self, served: Served, arguments: tuple[str, ...], prefixes: list[str]
    ) -> None:
        ended = await bgpq4(served.whois, "-p", "-F", "%n/%l ", *arguments)
        assert ended.status == 0, ended.errors
        assert sorted(ended.output.split()) == prefixes

    async def test_bgpq4_makes_paths_of_the_members(self, served: Served) -> None:
        ended = await bgpq4(served.whois, "-p", "-j", "-t", "AS-TEST")
        assert ended.status == 0, ended.errors
        assert re.findall(r"[0-9]{10}", ended.output) == ["4242429901", "4242429902", "4242429903"]

    async def test_bgpq4_refuses_a_source_that_is_not_there(self, served: Served) -> None:
        assert (await bgpq4(served.whois, "-p", "-S", "RIPE", "AS-TEST")).status == 1

    @pytest.mark.parametrize(
        ("arguments", "found"),
        [
            (("AS4242429901",), "aut-num:            AS4242429901"),
            (("FOO-MNT",), "mntner:             FOO-MNT"),
            (("foo.dn42",), "domain:             foo.dn42"),
            (("172.20.0.53",), "route:              172.20.0.0/24"),
            (("fd42:1::1",), "route6:             fd42:1::/48"),
            (("!gAS4242429901",), "172.20.0.0/24 172.20.1.0/27"),
            (("-i", "origin", "AS4242429902"), "route:              172.20.0.0/24"),
            (("-T", "aut-num", "AS4242429901"), "aut-num:            AS4242429901"),
            (("-L", "172.20.0.0/24"), "route:              172.20.0.0/23"),
            (("-x", "172.20.0.0/23"), "route:              172.20.0.0/23"),
            (("-K", "AS-TEST"), "members: AS4242429901"),
            (("-t", "aut-num"), "aut-num:            [mandatory]"),
            (("-q", "sources"), "DN42:3:N:"),
            (("--", "-i mnt-by FOO-MNT"), "mnt-by:             FOO-MNT"),
            ((" AS4242429903",), "aut-num:            AS4242429903"),
            (("AS4242429999",), "as-block:           AS4242420000 - AS4242429999"),
            (("NO-MNT",), "%  No entries found for the selected source(s)."),
        ],
    )
    async def test_whois_shows(self, served: Served, arguments: tuple[str, ...], found: str) -> None:
        ended = await whois(served.whois, *arguments)
        assert ended.status == 0, ended.errors
        assert found in ended.output

    async def test_bird_takes_a_filter_that_bgpq4_made(self, served: Served) -> None:
        ended = await bgpq4(served.whois, "-p", "-b", "-l", "OURS", "-4", "AS-TEST")
        assert ended.output.startswith("OURS = [")
        assert "172.20.1.0/27" in ended.output
