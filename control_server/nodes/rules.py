"""Health of a node by what its link says."""

from __future__ import annotations

from datetime import datetime

from control_server.nodes.schemas import HealthRead

_HEALTH_OF_LIVENESS = {
    "online": ("ok", []),
    "stale": ("stale", ["agent_stale"]),
    "offline": ("down", ["agent_offline"]),
    "unknown": ("unknown", ["never_reported"]),
}


def health(liveness: str, since: datetime | None) -> HealthRead:
    """What the agent's link alone says of the node; unknown is not down."""
    state, reasons = _HEALTH_OF_LIVENESS[liveness]
    return HealthRead(state=state, reasons=list(reasons), since=since)
