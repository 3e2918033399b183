"""From a location to a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.runtime_state.allocation import keep_large_values_apart
from shared.runtime_state.facade import RedisRuntimeClient
from shared.runtime_state.locations import DEADLINE, MemoryLocation, parse_location
from shared.runtime_state.memory_backend import InMemoryRuntimeStateBackend

if TYPE_CHECKING:
    from datetime import timedelta

    from shared.runtime_state.locations import Location
    from shared.runtime_state.memory_store import MemoryLimits


def open_client(
    location: Location,
    *,
    prefix: str,
    limits: MemoryLimits | None = None,
    deadline: timedelta = DEADLINE,
) -> RedisRuntimeClient:
    """A client of its own for the location; nothing is connected yet.

    `limits` are for memory, `deadline` is for every call to a server.
    """
    if isinstance(location, MemoryLocation):
        keep_large_values_apart()
        return RedisRuntimeClient(InMemoryRuntimeStateBackend(limits), prefix=prefix)
    # Only who has a server needs its client, whose import takes longer than all the rest here.
    from shared.runtime_state.redis_backend import RedisRuntimeStateBackend  # noqa: PLC0415

    return RedisRuntimeClient(RedisRuntimeStateBackend(location, deadline=deadline), prefix=prefix)


def create_runtime_state_client(
    url: str, *, prefix: str, limits: MemoryLimits | None = None, deadline: timedelta = DEADLINE
) -> RedisRuntimeClient:
    """An independent instance under a prefix of its own, for tests and tools; close it with `aclose`."""
    return open_client(parse_location(url), prefix=prefix, limits=limits, deadline=deadline)
