"""Clients that mean no good, or read too slowly: others are served, and memory stays bounded."""

from __future__ import annotations

import asyncio
import random
import resource
from contextlib import AsyncExitStack
from typing import cast

import pytest

from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire, ask_once
from tests.integration.registry.conftest import Registries
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
ROUTES6 = b"A12\nfd42:1::/48\nC\n"


async def others_are_served(port: int) -> None:
    assert await ask_once(port, b"!6AS4242429901\n") == ROUTES6


def connections(served: Served) -> int:
    return len(served.app.state.ports["whois"].table)


class TestLines:
    @pytest.mark.parametrize(("start", "answer"), [(b"!g", b"F "), (b"x", b"%% ERROR: ")])
    async def test_a_megabyte_without_an_end_is_refused_and_the_connection_closed(
        self, served: Served, start: bytes, answer: bytes
    ) -> None:
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n" + start + b"a" * 1_000_000)
            heard = await wire.once()
            assert heard.startswith(answer)
        await others_are_served(served.whois)

    async def test_the_longest_line_is_answered_and_one_byte_more_is_not(self, served: Served) -> None:
        longest = b"!n" + b"a" * 1022
        async with await Wire.to(served.whois) as wire:
            wire.send(b"!!\n")
            await wire.ask(longest + b"\n", b"C\n")
            wire.send(longest + b"a\n")
            assert await wire.rest() == b"F the question is longer than 1024 bytes\n"

    async def test_random_bytes_do_no_harm(self, served: Served) -> None:
        seeded = random.Random(7)  # noqa: S311 - the same bytes each time
        for _ in range(60):
            data = seeded.randbytes(seeded.randint(1, 3000))
            async with await Wire.to(served.whois) as wire:
                wire.send(b"!!\n" + data + b"\n!q\n")
                await wire.rest()
        await others_are_served(served.whois)


class TestSilence:
    async def test_slow_clients_are_let_go_and_do_not_keep_others_out(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        """A byte now and then is no question."""
        async with serving(registries, upstream, whois={"idle": "PT1S"}) as served, AsyncExitStack() as stack:
            slow = [await stack.enter_async_context(await Wire.to(served.whois)) for _ in range(50)]
            for wire in slow:
                wire.send(b"!!\n!gAS")
            await wait_until(lambda: connections(served) == 50)
            await others_are_served(served.whois)
            for wire in slow:
                wire.send(b"4")
            await wait_until(lambda: connections(served) == 0)

    async def test_a_client_may_ask_for_more_patience(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with (
            serving(registries, upstream, whois={"idle": "PT1S"}) as served,
            await Wire.to(served.whois) as patient,
            await Wire.to(served.whois) as other,
        ):
            patient.send(b"!!\n")
            await patient.ask(b"!t1000\n", b"C\n")
            other.send(b"!!\n")
            assert await other.rest() == b""
            await patient.ask(b"!6AS4242429901\n", ROUTES6)

    async def test_one_address_cannot_keep_out_the_next_not_even_itself(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        async with (
            serving(registries, upstream, whois={"connections_per_address": 20}) as served,
            AsyncExitStack() as stack,
        ):
            for _ in range(60):
                await stack.enter_async_context(await Wire.to(served.whois))
            await wait_until(lambda: connections(served) == 20)
            await others_are_served(served.whois)

    async def test_who_does_not_read_is_not_answered_for_ever(self, served: Served) -> None:
        question = b"!oFOO-MNT\n"
        async with await Wire.to(served.whois) as wire:
            cast("asyncio.Transport", wire.writer.transport).pause_reading()
            wire.send(b"!!\n")
            for _ in range(400):
                wire.send(question * 100)
            before = served_questions(served)
            await others_are_served(served.whois)
            await asyncio.wait_for(settled(served), 20)
            assert served_questions(served) - before < 400 * 100


def served_questions(served: Served) -> int:
    value = served.app.state.metrics.registry.get_sample_value("routeloom_registry_whois_questions")
    assert value is not None
    return int(value)


async def settled(served: Served) -> None:
    """Until no more questions are taken."""
    seen = -1
    while seen != served_questions(served):
        seen = served_questions(served)
        await asyncio.sleep(0.2)


@pytest.mark.soak
class TestSoak:
    async def test_a_thousand_connections_and_a_flood_of_bytes(
        self, registries: Registries, upstream: Upstream
    ) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        limits = {"connections": 3000, "connections_per_address": 3000}
        try:
            async with serving(registries, upstream, whois=limits) as served, AsyncExitStack() as stack:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                for number in range(1000):
                    wire = await stack.enter_async_context(await Wire.to(served.whois))
                    noise = random.Random(number).randbytes(2000)  # noqa: S311 - the same bytes each time
                    wire.send(b"!!\n" + noise)
                await others_are_served(served.whois)
                grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
                assert grown < 200_000, f"{grown} kB for both ends of 1,000 connections"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
