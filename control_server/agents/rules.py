"""What can be said of an agent's link without asking anyone."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

#: Two heartbeats may be lost, and a bit.
ONLINE_WITHIN = timedelta(seconds=75)
STALE_WITHIN = timedelta(seconds=300)


class Liveness(StrEnum):
    """Whether the node's agent speaks. `unknown` is not `offline`: it has never been heard."""

    ONLINE = "online"
    STALE = "stale"
    OFFLINE = "offline"
    UNKNOWN = "unknown"

    def without_link(self) -> Liveness:
        """The same node once its socket has ended: heard lately, but not to be spoken to now."""
        return Liveness.STALE if self is Liveness.ONLINE else self


def liveness(last_seen: datetime | None, now: datetime) -> Liveness:
    """Liveness by the age of the last message."""
    if last_seen is None:
        return Liveness.UNKNOWN
    age = now - last_seen
    if age <= ONLINE_WITHIN:
        return Liveness.ONLINE
    return Liveness.STALE if age <= STALE_WITHIN else Liveness.OFFLINE
