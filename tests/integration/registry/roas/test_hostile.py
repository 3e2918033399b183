"""Routers that mean no good: others are served, and memory stays bounded."""

from __future__ import annotations

import asyncio
import random
import resource
from contextlib import AsyncExitStack
from typing import cast

import pytest

from registry_server.roas.rules import pdus
from shared.testing.waiting import wait_until
from tests.integration.registry.clients import Wire
from tests.integration.registry.conftest import Registries
from tests.integration.registry.roas.test_rtr import EVERYTHING, RESET, answer
from tests.integration.registry.serving import Served, serving
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def others_are_served(port: int) -> None:
    async with await Wire.to(port) as wire:
        wire.send(RESET)
        assert set((await answer(wire, 1))[0]) == EVERYTHING


async def test_random_bytes_do_no_harm(served: Served) -> None:
    seeded = random.Random(11)  # noqa: S311 - the same bytes each time
    for _ in range(60):
        async with await Wire.to(served.rtr) as wire:
            wire.send(seeded.randbytes(seeded.randint(8, 2000)) + b"\xff" * 8)
            await wire.rest()
    await others_are_served(served.rtr)


async def test_a_megabyte_in_one_pdu_is_refused_by_its_head(served: Served) -> None:
    async with await Wire.to(served.rtr) as wire:
        wire.send(pdus.HEADER.pack(1, 1, 0, 1_000_000) + b"a" * 100_000)
        assert (await wire.once())[:4] == bytes.fromhex("010a0000")
    await others_are_served(served.rtr)


async def test_who_asks_and_never_reads_is_not_answered_for_ever(served: Served) -> None:
    async with await Wire.to(served.rtr) as wire:
        cast("asyncio.Transport", wire.writer.transport).pause_reading()
        wire.send(RESET * 50_000)
        await others_are_served(served.rtr)
        table = served.app.state.ports["rtr"].table
        await wait_until(lambda: any(not each.writable for each in table))
        assert sum(each.transport.get_write_buffer_size() for each in table) < 1 << 20


@pytest.mark.soak
async def test_a_thousand_connections(registries: Registries, upstream: Upstream) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    limits = {"connections": 3000, "connections_per_address": 3000}
    try:
        async with serving(registries, upstream, rtr=limits) as served, AsyncExitStack() as stack:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for number in range(1000):
                wire = await stack.enter_async_context(await Wire.to(served.rtr))
                wire.send((RESET, RESET[:5], b"")[number % 3])
            await others_are_served(served.rtr)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 200_000, f"{grown} kB for both ends of 1,000 connections"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
