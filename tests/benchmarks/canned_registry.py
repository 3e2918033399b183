"""A server that knows one answer by heart: what a client takes for itself, whoever answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PROBE = b"F Missing required set name for A query\n"
_SOURCES = b"A5\nDN42\nC\n"


def answer_of(port: int, question: bytes) -> bytes:
    """The whole answer of a real server to one question."""
    pieces = []
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(question)
        while piece := client.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def canned(answer: bytes) -> Iterator[int]:
    """Serve bgpq4, one connection after the other, with this answer for every set."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, answer), daemon=True).start()
        yield listener.getsockname()[1]


def _serve(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return  # the listener was closed
        with client, client.makefile("rb") as lines:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for line in lines:
                if line == b"!q\n":
                    break
                client.sendall(_reply(line, answer))


def _reply(line: bytes, answer: bytes) -> bytes:
    known = {b"!!\n": b"", b"!a\n": _PROBE, b"!s-lc\n": _SOURCES}
    return answer if line.startswith(b"!a4") else known.get(line, b"C\n")
