"""The port for routers, PDU by PDU."""

from __future__ import annotations

import struct
from datetime import timedelta
from socket import AF_INET, AF_INET6, inet_ntop

import pytest

from registry_server.mirror.schemas import SyncTrigger
from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import FILES, route
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Content, Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
RESET = bytes.fromhex("0102000000000008")
HEADER = struct.Struct("!BBHL")
#: Of the files that are served at first: prefix, its length, the longest, and the origin.
EVERYTHING = {
    ("172.20.0.0", 23, 29, 4242429903, 1),
    ("172.20.0.0", 24, 26, 4242429901, 1),
    ("172.20.0.0", 24, 26, 4242429902, 1),
    ("172.20.1.0", 27, 29, 4242429901, 1),
    ("fd42:1::", 48, 64, 4242429901, 1),
}
NEW: dict[str | bytes, Content] = {"data/route/172.20.9.0_24": route("172.20.9.0/24", 4242429904)}
Shown = tuple[str, int, int, int, int]


async def pdu(wire: Wire) -> tuple[int, int, int, bytes]:
    version, kind, session, length = HEADER.unpack(await wire.read(8))
    assert 8 <= length <= 100_000
    return version, kind, session, await wire.read(length - 8)


def shown(kind: int, body: bytes) -> Shown:
    flags, length, longest, zero = body[:4]
    assert zero == 0
    size = 4 if kind == 4 else 16
    assert len(body) == 4 + size + 4
    address = inet_ntop(AF_INET if kind == 4 else AF_INET6, body[4 : 4 + size])
    return address, length, longest, int.from_bytes(body[4 + size :]), flags


async def answer(wire: Wire, version: int) -> tuple[list[Shown], int, int]:
    """What comes between Cache Response and End of Data; with the session and the serial."""
    first = await pdu(wire)
    assert first[:2] == (version, 3)
    assert first[3] == b""
    prefixes: list[Shown] = []
    while True:
        heard, kind, session, body = await pdu(wire)
        assert heard == version
        if kind == 7:
            assert session == first[2]
            assert len(body) == (16 if version else 4)
            if version:
                assert struct.unpack("!LLL", body[4:]) == (3600, 600, 7200)
            return prefixes, session, int.from_bytes(body[:4])
        assert session == 0
        prefixes.append(shown(kind, body))


def serial_query(version: int, session: int, serial: int) -> bytes:
    return HEADER.pack(version, 1, session, 12) + serial.to_bytes(4)


HOSTILE = [
    b"\x01\x02\x00\x00\x00\x00\x00\x07",
    b"\x01\x02\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x00",
    b"\x01\x01\x00\x00\xff\xff\xff\xff",
    b"\x01\x63\x00\x00\x00\x00\x00\x08",
    b"\x01\x03\x00\x00\x00\x00\x00\x08",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\xff" * 5000,
]


class TestQueries:
    @pytest.mark.parametrize("version", [0, 1])
    async def test_a_reset_query_brings_everything(self, served: Served, version: int) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(HEADER.pack(version, 2, 0, 8))
            prefixes, _, _ = await answer(wire, version)
            assert set(prefixes) == EVERYTHING
            assert len(prefixes) == len(EVERYTHING)

    async def test_an_opening_in_version_2_is_answered_in_version_1(self, served: Served) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(HEADER.pack(2, 2, 0, 8))
            _, session, serial = await answer(wire, 1)
            wire.send(serial_query(1, session, serial))
            assert (await answer(wire, 1))[0] == []

    async def test_a_serial_query_brings_what_changed(self, served: Served) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(RESET)
            _, session, serial = await answer(wire, 1)
            await served.commit(NEW)
            assert (await pdu(wire))[1:] == (0, session, (serial + 1).to_bytes(4))
            wire.send(serial_query(1, session, serial))
            assert await answer(wire, 1) == ([("172.20.9.0", 24, 29, 4242429904, 1)], session, serial + 1)
            await served.commit(dict.fromkeys(NEW))
            assert (await pdu(wire))[1] == 0
            wire.send(serial_query(1, session, serial + 1))
            assert await answer(wire, 1) == ([("172.20.9.0", 24, 29, 4242429904, 0)], session, serial + 2)
            wire.send(serial_query(1, session, serial))
            assert await answer(wire, 1) == ([], session, serial + 2)

    async def test_a_change_of_the_registry_that_changes_no_roa_changes_no_serial(
        self, served: Served
    ) -> None:
        before = served.routers.serial
        await served.commit({"data/mntner/NEW-MNT": b"mntner: NEW-MNT\nmnt-by: NEW-MNT\nsource: DN42\n"})
        assert served.routers.serial == before

    @pytest.mark.parametrize(("session", "serial"), [(1, 0), (0, -100), (0, 1)])
    async def test_another_session_or_too_old_a_serial_is_told_to_start_over(
        self, served: Served, session: int, serial: int
    ) -> None:
        """Not an error, for which some routers forget what they have."""
        now = served.routers.serial
        assert now is not None
        async with await Wire.to(served.rtr) as wire:
            wire.send(serial_query(1, (served.routers.session + session) % 65536, now + serial))
            assert await wire.once() == bytes.fromhex("0108000000000008")
            wire.send(RESET)
            assert set((await answer(wire, 1))[0]) == EVERYTHING

    async def test_questions_of_one_segment_are_answered_in_order(self, served: Served) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(RESET + RESET[:3])
            first = await answer(wire, 1)
            wire.send(RESET[3:])
            assert await answer(wire, 1) == first


class TestStates:
    async def test_without_data_a_router_is_told_so_and_notified_later(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with (
            serving(registries, upstream, None, rtr={"notify_every": "PT0S"}) as served,
            await Wire.to(served.rtr) as wire,
        ):
            wire.send(RESET)
            version, kind, code, body = await pdu(wire)
            assert (version, kind, code) == (1, 10, 2)
            assert body[4:12] == RESET
            await served.commit(FILES)
            assert (await pdu(wire))[1] == 0
            wire.send(RESET)
            assert set((await answer(wire, 1))[0]) == EVERYTHING

    async def test_what_is_stale_is_not_given_out_and_comes_back_with_the_next_look(
        self, served: Served
    ) -> None:
        served.registry.clock.advance(timedelta(hours=13))
        async with await Wire.to(served.rtr) as wire:
            wire.send(RESET)
            assert (await pdu(wire))[1:3] == (10, 2)
            await served.app.state.mirror.sync(SyncTrigger.SCHEDULE)
            await served.snapshots.refresh()
            wire.send(RESET)
            assert set((await answer(wire, 1))[0]) == EVERYTHING

    async def test_a_restart_never_uses_a_session_with_a_serial_that_it_had(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream) as first:
            before = first.routers.serial
            await first.commit(NEW)
        async with serving(registries, upstream, None) as second:
            second.registry.clock.at = first.registry.clock.at
            await wait_until(lambda: second.routers.serial is not None)
            cache = second.routers
            assert before is not None
            told = cache.since(1, cache.session, before - 1)
            assert told == bytes.fromhex("0108000000000008")

    async def test_a_second_version_in_one_session_is_refused(self, served: Served) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(RESET)
            await answer(wire, 1)
            wire.send(HEADER.pack(0, 2, 0, 8))
            assert (await pdu(wire))[1:3] == (10, 8)
            assert await wire.rest() == b""

    async def test_notifications_are_as_rare_as_the_operator_says(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with serving(registries, upstream) as served, await Wire.to(served.rtr) as wire:
            wire.send(RESET)
            _, session, serial = await answer(wire, 1)
            await served.commit(NEW)
            assert (await pdu(wire))[1] == 0
            await served.commit(dict.fromkeys(NEW))
            # The next comes in a minute, and the answer before it: had there been one, it stood here.
            wire.send(serial_query(1, session, serial + 1))
            assert (await answer(wire, 1))[2] == serial + 2


class TestHostile:
    async def test_nonsense_is_reported_and_ends_the_connection(self, served: Served) -> None:
        for data in HOSTILE:
            async with await Wire.to(served.rtr) as wire:
                wire.send(data)
                heard = await wire.rest()
                assert heard[1:2] == b"\x0a", data[:8]
        async with await Wire.to(served.rtr) as wire:
            wire.send(RESET)
            assert set((await answer(wire, 1))[0]) == EVERYTHING

    async def test_an_error_report_is_not_answered_with_another(self, served: Served) -> None:
        async with await Wire.to(served.rtr) as wire:
            wire.send(HEADER.pack(1, 10, 0, 16) + bytes(8))
            assert await wire.rest() == b""
