"""The tables of real BIRDs, told to a server that is the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from node_agent.bird.client import conversing
from node_agent.collect.routes import RouteWatch, _parts
from node_agent.connection.reports import Reports
from shared.kernel.clock import utc_now
from shared.protocol.fleet import Sight
from shared.protocol.reports import (
    PrefixAcknowledged,
    PrefixReport,
    Route,
    Validity,
    pack_changes,
    unpack_changes,
)
from shared.testing.servers.bird import BirdServer
from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until

OURS, FIRST, SECOND = 4242429900, 4242429901, 4242429902
HEAD = f"""
router id 172.20.99.1;
timeformat route iso long us;
define RL_ASN = {OURS};
protocol device rl_device {{ }}
"""


def static(*prefixes: str, roa: str = "") -> str:
    routes = "".join(f"route {prefix} reject; " for prefix in prefixes)
    table = "roa4 table rl_roa4; protocol static rl_snap { roa4 { table rl_roa4; }; " + roa + " }\n"
    return f"{HEAD}{table}protocol static rl_own4 {{ ipv4; {routes} }}\n"


@dataclass
class Bird:
    """A daemon whose configuration the test changes."""

    server: BirdServer
    file: Path

    async def become(self, text: str) -> None:
        self.file.write_text(text)
        async with conversing(self.server.socket) as conversation:
            await conversation.command("configure")


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[Bird]:
    file = tmp_path / "bird.conf"
    file.write_text(static("10.0.1.0/24", "10.0.2.0/24"))
    server = BirdServer(tmp_path, file)
    server.start()
    yield Bird(server, file)
    server.stop()


@dataclass
class Server:
    """Takes reports and answers as the test says."""

    watch: RouteWatch
    reports: Reports

    async def next(self) -> PrefixReport:
        async with asyncio.timeout(20):
            while True:
                await self.reports.changed.wait()
                for report in self.reports.take():
                    if isinstance(report, PrefixReport):
                        return report

    def answer(self, report: PrefixReport, *, whole: bool = False) -> None:
        self.watch.heard(
            PrefixAcknowledged(stream=report.stream, sequence=report.sequence, resynchronise=whole)
        )

    async def told(self, *, whole: bool = False) -> tuple[PrefixReport, dict[str, list[Route]]]:
        """One look, its last report and everything that it says."""
        looking = asyncio.create_task(self.watch.look())
        changes: dict[str, list[Route]] = {}
        while True:
            report = await self.next()
            changes |= dict(unpack_changes(report))
            self.answer(report, whole=whole)
            if report.complete or whole:
                await looking
                return report, changes


def server_of(socket: Path, most: int = 10_000) -> Server:
    reports = Reports()
    return Server(RouteWatch(socket, reports, utc_now, stream="one", most=most), reports)


class TestLook:
    async def test_tells_the_whole_at_first_and_then_what_changed(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        first, table = await server.told()
        assert (first.begins, first.complete, sorted(table)) == (True, True, ["10.0.1.0/24", "10.0.2.0/24"])
        assert first.daemon_started_at is not None
        second, nothing = await server.told()
        assert (second.begins, second.base, nothing) == (False, first.sequence, {})
        await bird.become(static("10.0.2.0/24", "10.0.3.0/24"))
        third, changes = await server.told()
        assert (third.begins, third.base) == (False, second.sequence)
        assert changes["10.0.1.0/24"] == []
        assert changes["10.0.3.0/24"][0].protocol == "rl_own4"
        assert "10.0.2.0/24" not in changes

    async def test_tells_the_whole_again_when_the_server_asks(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        await server.told()
        await server.told(whole=True)
        again, table = await server.told()
        assert (again.begins, len(table)) == (True, 2)

    async def test_what_the_server_cannot_store_now_is_told_again(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        running = asyncio.create_task(server.watch.run(interval=0.01))
        report = await server.next()
        server.watch.refused("unavailable")
        assert await server.next() == report
        server.answer(report)
        assert (await server.next()).base == report.sequence
        running.cancel()

    async def test_what_the_server_cannot_read_is_followed_by_the_whole(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        running = asyncio.create_task(server.watch.run(interval=0.01))
        await server.next()
        server.watch.refused("prefix_report_refused")
        assert (await server.next()).begins
        running.cancel()

    async def test_a_reconnect_brings_what_is_not_acknowledged(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        looking = asyncio.create_task(server.watch.look())
        report = await server.next()
        server.reports.rewind()
        assert await server.next() == report
        server.answer(report)
        await looking
        server.reports.rewind()
        assert server.reports.take() == []

    async def test_another_authorisation_changes_what_it_is_about(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        await server.told()
        await bird.become(static("10.0.1.0/24", "10.0.2.0/24", roa=f"route 10.0.1.0/24 max 24 as {FIRST};"))
        _, changes = await server.told()
        assert changes == {}, "own routes have no origin to validate"

    async def test_a_silent_daemon_withdraws_nothing(self, bird: Bird) -> None:
        server = server_of(bird.server.socket)
        await server.told()
        bird.server.stop()
        report, changes = await server.told()
        assert (report.sight, report.begins, changes) == (Sight.UNAVAILABLE, False, {})
        assert "bird" in report.reason

    async def test_a_table_beyond_the_bound_is_not_told(self, bird: Bird) -> None:
        report, changes = await server_of(bird.server.socket, most=1).told()
        assert (report.sight, changes) == (Sight.UNAVAILABLE, {})

    async def test_a_large_table_is_several_reports(self, bird: Bird) -> None:
        many = [f"10.{high}.{low}.0/24" for high in range(24) for low in range(256)]
        await bird.become(static(*many))
        server = server_of(bird.server.socket)
        looking = asyncio.create_task(server.watch.look())
        first = await server.next()
        server.answer(first)
        last = await server.next()
        server.answer(last)
        await looking
        assert (first.begins, first.complete, first.count) == (True, False, 5000)
        assert (last.begins, last.complete, last.base) == (False, True, first.sequence)
        assert first.count + last.count == len(many)


def test_reports_are_bounded_by_their_bytes_as_well() -> None:
    route = Route("rl_f", 0, True, False, None, 1, "1 " * 1000, 1000, Validity.VALID, "fe80::1", 100, None)
    changes = [(f"10.{number // 256}.{number % 256}.0/24", [route] * 8) for number in range(1200)]
    parts = _parts(changes)
    assert [change for part in parts for change in part] == changes
    assert len(parts) > 2
    for part in parts:
        payload = pack_changes(part)
        report = PrefixReport(stream="one", sequence=1, taken_at=utc_now(), count=len(part), payload=payload)
        assert len(unpack_changes(report)) == len(part)
    assert _parts([]) == [[]]


# --- neighbours


def neighbour(asn: int, own: int, theirs: int, routes: str) -> str:
    address = f"127.0.0.{asn - OURS + 10}"
    return f"""
router id 172.21.0.{asn - OURS};
protocol device {{ }}
protocol static {{ ipv4; {routes} }}
protocol bgp a {{ local {address} port {own} as {asn}; neighbor 127.0.0.10 port {theirs} as {OURS};
  multihop; strict bind yes; connect delay time 1;
  ipv4 {{ import none; export all; next hop self; }}; }}
"""


def hub(ports: dict[int, tuple[int, int]]) -> str:
    peers = "".join(
        f"""protocol bgp rl_{asn - OURS} {{ local 127.0.0.10 port {theirs} as {OURS};
  neighbor 127.0.0.{asn - OURS + 10} port {own} as {asn}; multihop; strict bind yes; connect delay time 1;
  ipv4 {{ import table on; import keep filtered on; import filter rl_in; export none; }}; }}
"""
        for asn, (own, theirs) in ports.items()
    )
    return f"""{HEAD}
roa4 table rl_roa4;
protocol static rl_snap {{ roa4 {{ table rl_roa4; }}; route 10.1.0.0/24 max 24 as {FIRST}; }}
filter rl_in {{
  bgp_large_community.delete([(RL_ASN, *, *)]);
  if net = 10.9.0.0/24 then {{ bgp_large_community.add((RL_ASN, 1101, 3)); reject; }}
  if roa_check(rl_roa4, net, bgp_path.last_nonaggregated) = ROA_INVALID then {{
    bgp_large_community.add((RL_ASN, 1101, 13)); reject; }}
  accept;
}}
{peers}"""


@asynccontextmanager
async def running(directory: Path, name: str, text: str) -> AsyncIterator[BirdServer]:
    place = directory / name
    place.mkdir()
    (place / "bird.conf").write_text(text)
    server = BirdServer(place, place / "bird.conf")
    server.start()
    try:
        yield server
    finally:
        server.stop()


async def established(server: BirdServer) -> bool:
    async with conversing(server.socket) as conversation:
        reply = await conversation.ask("show route count")
        return reply.text.startswith("3 of 3")


async def test_routes_of_neighbours_are_told_with_origin_validity_and_reason(tmp_path: Path) -> None:
    ports = {asn: (free_loopback_port(), free_loopback_port()) for asn in (FIRST, SECOND)}
    tables = {
        FIRST: "route 10.1.0.0/24 reject; route 10.2.0.0/24 reject; route 10.9.0.0/24 reject;",
        SECOND: "route 10.1.0.0/24 reject; route 10.2.0.0/24 reject;",
    }
    async with running(tmp_path, "hub", hub(ports)) as router:
        async with (
            running(tmp_path, "first", neighbour(FIRST, *ports[FIRST], tables[FIRST])),
            running(tmp_path, "second", neighbour(SECOND, *ports[SECOND], tables[SECOND])),
        ):
            await wait_until(lambda: established(router), seconds=60)
            server = server_of(router.socket)
            _, table = await server.told()
        # Both are gone: their routes are withdrawn.
        await wait_until(lambda: gone(router), seconds=60)
        _, changes = await server.told()
    good, bad = table["10.1.0.0/24"]
    assert (good.protocol, good.best, good.validity, good.origin) == ("rl_1", True, Validity.VALID, FIRST)
    assert (bad.protocol, bad.filtered, bad.reason, bad.validity) == ("rl_2", True, 13, Validity.INVALID)
    assert {route.validity for route in table["10.2.0.0/24"]} == {Validity.NOT_FOUND}
    assert sorted(route.best for route in table["10.2.0.0/24"]) == [False, True]
    (refused,) = table["10.9.0.0/24"]
    assert (refused.filtered, refused.best, refused.reason) == (True, False, 3)
    assert (good.path, good.hops, good.local_pref) == (str(FIRST), 1, 100)
    assert changes == {"10.1.0.0/24": [], "10.2.0.0/24": [], "10.9.0.0/24": []}


async def gone(server: BirdServer) -> bool:
    async with conversing(server.socket) as conversation:
        return "0 of 0 routes" in (await conversation.ask("show route count table master4")).text
