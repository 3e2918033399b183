"""A guard that keeps the sockets of a test process on this machine."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self
from unittest import mock

INTERNET = {socket.AF_INET, socket.AF_INET6}


def stays_here(host: object) -> bool:
    """Whether a connection to `host` stays on this machine, told without asking a name server."""
    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in {"", "localhost"} or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


class LoopbackOnly:
    """While entered, connecting or resolving elsewhere is refused like a closed port, and remembered.

    Holds for the standard event loop as well, which connects through the same methods.
    """

    def __init__(self) -> None:
        self._refused: list[str] = []
        self._patches = ExitStack()

    def __enter__(self) -> Self:
        for name in ("connect", "connect_ex", "sendto"):
            self._patches.enter_context(mock.patch.object(socket.socket, name, self._guarded(name)))
        resolve = socket.getaddrinfo

        def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
            if not _is_literal(host):
                self._check(host)
            return resolve(host, *arguments, **options)

        self._patches.enter_context(mock.patch.object(socket, "getaddrinfo", getaddrinfo))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._patches.close()

    def take_refused(self) -> list[str]:
        """What was refused since the last call."""
        refused, self._refused = self._refused, []
        return refused

    def _guarded(self, name: str) -> Callable[..., Any]:
        original: Callable[..., Any] = getattr(socket.socket, name)

        def method(sock: socket.socket, *arguments: Any) -> Any:
            # The address stands last in each of the three.
            if sock.family in INTERNET:
                self._check(arguments[-1][0])
            return original(sock, *arguments)

        return method

    def _check(self, host: object) -> None:
        if not stays_here(host):
            self._refused.append(str(host))
            raise ConnectionRefusedError(f"tests connect to this machine only, not to {host}")


def _is_literal(host: object) -> bool:
    """Whether resolving `host` asks nobody."""
    try:
        ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return True
