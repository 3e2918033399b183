"""The open connections of a listener: counted by address, and the one that was silent longest goes first."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from typing import Protocol


class Tracked(Protocol):
    """What the table needs to know of a connection."""

    @property
    def neighbourhood(self) -> str:
        """Whom it counts for: see `neighbourhood_of`."""

    def evict(self) -> None:
        """End at once."""


class ConnectionTable:
    """Never refuses a newcomer: whoever has too many loses the one that was silent longest.

    So a client that holds connections open without a word cannot keep anybody out, not even itself.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._count = 0
        #: By address, the longest silent first.
        self._by_address: dict[str, dict[Tracked, None]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def __iter__(self) -> Iterator[Tracked]:
        """All of them, as they are now."""
        return iter([each for some in self._by_address.values() for each in some])

    def admit(self, connection: Tracked) -> None:
        """Take in a new one."""
        mine = self._by_address.setdefault(connection.neighbourhood, {})
        mine[connection] = None
        self._count += 1
        if len(mine) > self._most_of_one:
            self._drop_silent(mine)
        elif self._count > self._most:
            self._drop_silent(max(self._by_address.values(), key=len))

    def heard(self, connection: Tracked) -> None:
        """Note that it said something of use."""
        mine = self._by_address.get(connection.neighbourhood)
        if mine is not None and connection in mine:
            del mine[connection]
            mine[connection] = None

    def left(self, connection: Tracked) -> None:
        """Forget it."""
        mine = self._by_address.get(connection.neighbourhood)
        if mine is None or connection not in mine:
            return
        del mine[connection]
        self._count -= 1
        if not mine:
            del self._by_address[connection.neighbourhood]

    def _drop_silent(self, some: dict[Tracked, None]) -> None:
        silent = next(iter(some))
        self.left(silent)
        silent.evict()


def neighbourhood_of(address: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 address: what one client can hold without effort."""
    plain = address.partition("%")[0]
    try:
        parsed = ip_address(plain)
    except ValueError:
        return plain
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped) if parsed.ipv4_mapped else f"{int(parsed) >> 64:x}"
    return plain
