from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from node_agent.probes import resolving
from node_agent.probes.resolving import Chooser, TargetUnresolved, has_route, resolve_name
from shared.kernel.targets import Address, HostName, TargetPolicy, TargetRefused

NAME = HostName("router.example")


def chooser(*texts: str, without_route: str = "") -> Chooser:
    async def resolve(_name: str) -> Sequence[Address]:
        return [ip_address(text) for text in texts]

    return Chooser(resolve=resolve, routable=lambda address: str(address) != without_route)


class TestChoose:
    async def test_prefers_ipv6_where_there_is_a_route(self) -> None:
        both = ("192.0.2.1", "2001:db8::1")
        assert str((await chooser(*both).choose(NAME, None, TargetPolicy())).address) == "2001:db8::1"
        choice = await chooser(*both, without_route="2001:db8::1").choose(NAME, None, TargetPolicy())
        assert str(choice.address) == "192.0.2.1"

    async def test_takes_an_address_without_a_route_when_there_is_no_other(self) -> None:
        choice = await chooser("192.0.2.1", without_route="192.0.2.1").choose(NAME, None, TargetPolicy())
        assert str(choice.address) == "192.0.2.1"

    async def test_tells_every_refused_answer(self) -> None:
        with pytest.raises(TargetRefused) as caught:
            await chooser("127.0.0.1", "::1").choose(NAME, None, TargetPolicy())
        assert "127.0.0.1 is a loopback" in caught.value.detail
        assert "::1 is a loopback" in caught.value.detail

    async def test_does_not_resolve_a_literal_address(self) -> None:
        choice = await chooser().choose(ip_address("192.0.2.1"), 4, TargetPolicy())
        assert str(choice.address) == "192.0.2.1"


class TestResolveName:
    async def test_knows_this_host(self) -> None:
        assert ip_address("127.0.0.1") in await resolve_name("localhost")

    async def test_drops_zones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = (socket.AF_INET6, socket.SOCK_DGRAM, 17, "", ("fe80::1%lo", 0, 0, 1))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry])
        assert await resolve_name("x.example") == [ip_address("fe80::1")]

    async def test_does_not_wait_for_a_resolver_that_hangs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        release = threading.Event()
        monkeypatch.setattr(resolving, "_RESOLVE_SECONDS", 0.05)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(20))
        with pytest.raises(TargetUnresolved, match="in time"):
            await resolve_name("x.example")
        release.set()

    async def test_tells_a_name_that_cannot_be_encoded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise UnicodeError("label too long")

        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        with pytest.raises(TargetUnresolved):
            await resolve_name("x.example")


def test_this_host_has_a_route_to_itself() -> None:
    assert has_route(ip_address("127.0.0.1"))
