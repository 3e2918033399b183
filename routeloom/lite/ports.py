"""Listening on loopback, IPv4 and where the host has it IPv6, before anything else is touched."""

from __future__ import annotations

import contextlib
import errno
import socket

from routeloom.lite.errors import NoLoopback, PortTaken

_BACKLOG = 512


def listen_on_loopback(port: int) -> list[socket.socket]:
    """Sockets on what the host has of 127.0.0.1 and ::1, with one port (0: a free one).

    Raises PortTaken, or NoLoopback where it has neither.
    """
    sockets: list[socket.socket] = []
    with contextlib.ExitStack() as stack:
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            chosen = sockets[0].getsockname()[1] if sockets else port
            with contextlib.suppress(_Absent):
                sockets.append(stack.enter_context(_listen(family, host, chosen)))
        if not sockets:
            raise NoLoopback
        stack.pop_all()
    return sockets


class _Absent(Exception):
    """The host has no such address."""


def _listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    with contextlib.ExitStack() as stack:
        # With its protocol named, or asyncio leaves Nagle's algorithm on: 40 ms for every answer.
        kind = (family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener = stack.enter_context(_opened(kind))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family is socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            listener.bind((host, port))
            listener.listen(_BACKLOG)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(
                    f"Port {port} is in use by another program; choose another with --port or PORT"
                ) from None
            if error.errno == errno.EACCES:
                raise PortTaken(f"Port {port} needs more rights; choose one above 1023 with --port") from None
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            raise _Absent from error
        stack.pop_all()
        listener.setblocking(False)  # noqa: FBT003 - the socket module's own signature
        return listener


def _opened(kind: tuple[socket.AddressFamily, int, int]) -> socket.socket:
    try:
        return socket.socket(*kind)
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            raise
        raise _Absent from error
