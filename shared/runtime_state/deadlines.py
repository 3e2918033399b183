"""Which keys expire next, without ever looking at those that do not.

Deadlines of one second share a sorted list, and the seconds that have any are sorted. Unlike a heap, a key
whose lifetime changed or that was deleted leaves nothing behind, so there is nothing to rebuild while readers
wait; and taking the first N costs one slice of one list.
"""

from __future__ import annotations

from bisect import bisect_left, insort

#: Deadlines are nanoseconds of a monotonic clock.
SECOND = 1_000_000_000


class Deadlines:
    """A set of (deadline, key), ordered by deadline."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_second: dict[int, list[tuple[int, bytes]]] = {}
        self._seconds: list[int] = []

    def add(self, key: bytes, deadline: int) -> None:
        """Remember a key that has no deadline yet."""
        second = deadline // SECOND
        found = self._by_second.get(second)
        if found is None:
            self._by_second[second] = [(deadline, key)]
            insort(self._seconds, second)
        else:
            insort(found, (deadline, key))

    def discard(self, key: bytes, deadline: int) -> None:
        """Forget a key that was added with this deadline."""
        second = deadline // SECOND
        found = self._by_second[second]
        del found[bisect_left(found, (deadline, key))]
        if not found:
            self._close(second)

    def due(self, now: int, limit: int) -> list[bytes]:
        """At most `limit` keys of the earliest second whose deadline has come, earliest first."""
        if not self._seconds:
            return []
        earliest = self._by_second[self._seconds[0]][:limit]
        return [key for deadline, key in earliest if deadline <= now]

    def drop(self, count: int) -> None:
        """Forget the first `count` of those that `due` has just named."""
        second = self._seconds[0]
        found = self._by_second[second]
        del found[:count]
        if not found:
            self._close(second)

    def _close(self, second: int) -> None:
        del self._by_second[second]
        del self._seconds[bisect_left(self._seconds, second)]
