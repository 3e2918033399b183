"""Where a listener listens."""

import asyncio
import contextlib
import socket

import pytest

from shared.listeners import Connection, Listener, ListenerSettings
from shared.testing.waiting import wait_until


def listener(**settings: object) -> Listener:
    return Listener("test", ListenerSettings.model_validate({"port": 0, **settings}), Connection)


async def serving(some: Listener) -> asyncio.Task[None]:
    task = asyncio.create_task(some.serve())
    await wait_until(lambda: some.port is not None)
    return task


async def end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class TestServe:
    async def test_takes_one_port_on_all_addresses_and_leaves_out_those_that_are_absent(self) -> None:
        some = listener(hosts=["127.0.0.1", "203.0.113.1", "::1"])
        task = await serving(some)
        for host in ("127.0.0.1", "::1"):
            _, writer = await asyncio.open_connection(host, some.port)
            writer.close()
        await end(task)
        assert some.port is None

    async def test_raises_where_no_address_is_there(self) -> None:
        some = listener(hosts=["203.0.113.1"])
        with pytest.raises(OSError, match="Cannot assign"):
            await some.serve()
        await some.tried()
        assert (some.held, some.port) == (False, None)

    async def test_waits_for_a_port_that_another_holds(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            some = listener(hosts=["127.0.0.1"], port=other.getsockname()[1])
            task = asyncio.create_task(some.serve())
            await some.tried()
            assert some.held
            assert some.port is None
            assert not task.done()
            await end(task)

    async def test_tells_its_port_while_it_still_opens(self) -> None:
        opened = asyncio.Event()

        async def opening() -> None:
            await opened.wait()

        settings = ListenerSettings(port=0, hosts=("127.0.0.1",))
        some = Listener("test", settings, Connection, opening=opening)
        task = asyncio.create_task(some.serve())
        await some.tried()
        _, writer = await asyncio.open_connection("127.0.0.1", some.port)
        assert (some.held, len(some.table)) == (False, 0)
        opened.set()
        await wait_until(lambda: len(some.table) == 1)
        writer.close()
        await end(task)
        assert some.port is None

    async def test_shares_a_port_with_other_workers(self) -> None:
        first = Listener("test", ListenerSettings(port=0, hosts=("127.0.0.1",)), Connection, shared=True)
        one = await serving(first)
        settings = ListenerSettings(port=first.port, hosts=("127.0.0.1",))
        second = Listener("test", settings, Connection, shared=True)
        two = await serving(second)
        assert first.port == second.port
        await end(one)
        await end(two)

    async def test_ends_its_connections_with_itself(self) -> None:
        some = listener(hosts=["127.0.0.1"])
        task = await serving(some)
        reader, writer = await asyncio.open_connection("127.0.0.1", some.port)
        await wait_until(lambda: len(some.table) == 1)
        await end(task)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()

    def test_is_off_without_a_port(self) -> None:
        assert listener(port=None).loops() == []

    def test_an_empty_variable_is_no_port(self) -> None:
        assert listener(port="").loops() == []

    @pytest.mark.parametrize("turns", range(6))
    async def test_leaves_no_socket_open_of_whoever_was_only_just_accepted(self, turns: int) -> None:
        some = listener(hosts=["127.0.0.1"])
        task = await serving(some)
        with socket.create_connection(("127.0.0.1", some.port or 0)) as client:
            for _ in range(turns):
                await asyncio.sleep(0)
            await end(task)
            client.settimeout(5)
            # The event loop does not turn any more: whatever is to be closed is closed.
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""
