"""What can happen to a tier, done to real servers and undone again."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shared.testing.servers import KeyValueServer
from shared.testing.servers.ports import free_loopback_port

PASSWORD = "a password that nobody was told"
Servers = tuple[KeyValueServer, ...]


def tell(server: KeyValueServer, *commands: str) -> None:
    """Commands in the inline protocol; what they answer is not looked at."""
    with socket.create_connection((server.host, server.port), 5) as connection:
        connection.sendall("".join(f"{command}\r\n" for command in (*commands, "QUIT")).encode())
        while connection.recv(65_536):
            pass


@dataclass(frozen=True)
class Fault:
    """A column: how it comes, and how it goes."""

    name: str
    begin: Callable[[KeyValueServer], None] = lambda _server: None
    end: Callable[[KeyValueServer], None] = lambda _server: None
    #: The tiers as the services are told of them; None: not configured, "": the servers' own addresses.
    address: Callable[[KeyValueServer], str | None] = lambda server: server.url


def _forget(server: KeyValueServer) -> None:
    server.kill()
    (server.directory / "dump.rdb").unlink(missing_ok=True)
    server.start()


WELL = Fault("well")
NOT_CONFIGURED = Fault("not configured", address=lambda _server: None)
REFUSED = Fault("refused", begin=lambda server: server.stop(), end=lambda server: server.start())
FROZEN = Fault("frozen", begin=lambda server: server.pause(), end=lambda server: server.resume())
FULL = Fault(
    "OOM",
    begin=lambda server: tell(server, "CONFIG SET maxmemory 1"),
    end=lambda server: tell(server, "CONFIG SET maxmemory 268435456"),
)
NO_AUTH = Fault(
    "NOAUTH",
    begin=lambda server: tell(server, f"CONFIG SET requirepass '{PASSWORD}'", "CLIENT KILL TYPE normal"),
    end=lambda server: tell(server, f"AUTH '{PASSWORD}'", "CONFIG SET requirepass ''"),
)
READ_ONLY = Fault(
    "READONLY",
    begin=lambda server: tell(server, f"REPLICAOF 127.0.0.1 {free_loopback_port()}"),
    end=lambda server: tell(server, "REPLICAOF NO ONE"),
)
EMPTIED = Fault("restart, empty", begin=_forget)
FAULTS = (WELL, NOT_CONFIGURED, REFUSED, FROZEN, FULL, NO_AUTH, READ_ONLY, EMPTIED)


@contextmanager
def happening(fault: Fault, servers: Servers) -> Iterator[None]:
    for server in servers:
        fault.begin(server)
    try:
        yield
    finally:
        for server in servers:
            fault.end(server)


Act = Callable[[], Awaitable[str]]
