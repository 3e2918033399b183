import asyncio
import socket

import pytest

from shared.testing.loopback import LoopbackOnly, stays_here


class TestStaysHere:
    @pytest.mark.parametrize("host", [None, "", "localhost", "a.localhost", "127.0.0.1", b"127.9.9.9", "::1"])
    def test_this_machine(self, host: object) -> None:
        assert stays_here(host)

    @pytest.mark.parametrize(
        "host", ["192.0.2.1", "2001:db8::1", "fe80::1%eth0", "node.example", "127.0.0.1.example"]
    )
    def test_elsewhere(self, host: object) -> None:
        assert not stays_here(host)


class TestLoopbackOnly:
    def test_refuses_and_remembers_a_connection(self, loopback_only: LoopbackOnly) -> None:
        with socket.socket() as sock, pytest.raises(ConnectionRefusedError):
            sock.connect(("192.0.2.1", 80))
        assert loopback_only.take_refused() == ["192.0.2.1"]

    def test_refuses_a_datagram(self, loopback_only: LoopbackOnly) -> None:
        with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(ConnectionRefusedError):
            sock.sendto(b"hello", ("192.0.2.1", 53))
        assert loopback_only.take_refused() == ["192.0.2.1"]

    def test_refuses_to_ask_a_name_server(self, loopback_only: LoopbackOnly) -> None:
        with pytest.raises(ConnectionRefusedError):
            socket.getaddrinfo("node.example", 80)
        assert loopback_only.take_refused() == ["node.example"]

    async def test_holds_for_the_event_loop(self, loopback_only: LoopbackOnly) -> None:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("192.0.2.1", 80)
        assert loopback_only.take_refused() == ["192.0.2.1"]

    async def test_lets_loopback_through(self) -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.close()
            await writer.wait_closed()
