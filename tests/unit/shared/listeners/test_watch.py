"""A port that accepts and does not answer is told, as one that is not there."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from shared.listeners import Connection, ConnectionTable, Listener, ListenerSettings, PortReport, PortWatch
from shared.testing.waiting import wait_until


class Echo(Connection):
    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Closing(Connection):
    def data_received(self, data: bytes) -> None:
        self.transport.close()


class Stuck(Connection):
    """Accepts, and never answers."""


def watch(connection: type[Connection], **settings: object) -> PortWatch:
    def connect(table: ConnectionTable) -> Connection:
        return connection(table)

    found = ListenerSettings.model_validate({"port": 0, **settings})
    return PortWatch("test", Listener("test", found, connect), lambda: b"?", timedelta(milliseconds=200))


@asynccontextmanager
async def served(some: PortWatch) -> AsyncIterator[None]:
    task = asyncio.create_task(some.listener.serve())
    await wait_until(lambda: some.listener.port is not None)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def looked(some: PortWatch, times: int = 2) -> PortReport:
    for _ in range(times):
        await some.look()
    return some.report()


@pytest.mark.parametrize("connection", [Echo, Closing])
async def test_who_answers_or_closes_in_order_is_well(connection: type[Connection]) -> None:
    some = watch(connection)
    async with served(some):
        report = await looked(some)
        assert report == PortReport("test", answers=True, facts={"port": some.listener.port})
        await wait_until(lambda: len(some.listener.table) == 0)


async def test_an_address_that_means_all_is_asked_on_the_loopback() -> None:
    some = watch(Echo, hosts=["0.0.0.0", "::"])  # noqa: S104 - what an operator may write
    async with served(some):
        assert (await looked(some)).answers


async def test_who_accepts_and_does_not_answer_is_told_once_it_was_asked_twice() -> None:
    some = watch(Stuck, hosts=["127.0.0.1"])
    async with served(some):
        assert (await looked(some, 1)).answers
        report = await looked(some, 1)
        assert (report.answers, report.facts["reason"]) == (False, "no answer at 127.0.0.1 within 0.2 s")


async def test_a_port_that_another_holds_is_told_and_well_again_once_it_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        some = watch(Echo, hosts=["127.0.0.1"], port=other.getsockname()[1])
        task = asyncio.create_task(some.listener.serve())
        report = await looked(some)
        assert (report.answers, report.facts) == (False, {"port": None, "reason": "nothing listens"})
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with served(some):
        assert (await looked(some, 1)).answers


async def test_an_address_that_refuses_is_told() -> None:
    some = watch(Echo, hosts=["127.0.0.1"])
    async with served(some):
        addresses = some.listener.addresses
    some.listener.addresses = addresses
    report = await looked(some)
    assert (report.answers, "Connect" in report.facts["reason"]) == (False, True)


def test_a_port_that_is_off_is_not_asked() -> None:
    assert watch(Echo, port=None).loops() == []
    assert [loop.name for loop in watch(Echo).loops()] == ["test.watch"]
