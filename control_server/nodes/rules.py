"""Health of a node by what its link says, and finding nodes in a list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from control_server.nodes.errors import NodeInUse
from control_server.nodes.schemas import HealthRead, NodeRead

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


def check_deletable(lifecycle: str, generation: int, applied: int | None) -> None:
    """Refuse to forget a node that may still route. Raises NodeInUse with what is missing."""
    if lifecycle != "decommissioned":
        raise NodeInUse("Decommission the node first: its routing is then withdrawn.")
    if generation and applied is not None and applied < generation:
        raise NodeInUse(f"The node still runs generation {applied}; wait until it runs {generation}.")


_HIGHEST_AS = 2**32 - 1


def as_number(label: str) -> int | None:
    """The AS number that a label such as `AS4242429901` says; None where it says none."""
    digits = label.strip().upper().removeprefix("AS")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(_HIGHEST_AS)):
        return None
    return int(digits) if 0 < int(digits) <= _HIGHEST_AS else None


_WORST_FIRST = ("down", "degraded", "stale", "unknown", "maintenance", "ok")


def matching(nodes: Sequence[NodeRead], query: str, sorting: str) -> list[NodeRead]:
    """Nodes whose id, site, description or labels contain every word of the query, in the order asked for."""
    words = query.lower().split()
    found = [node for node in nodes if all(word in _searchable(node) for word in words)]
    key = sorting.removeprefix("-")
    found.sort(key=lambda node: node.node_id)
    if key == "state":
        found.sort(key=lambda node: _WORST_FIRST.index(node.health.state))
    elif key == "seen":
        found.sort(key=_last_seen, reverse=True)
    return found[::-1] if sorting.startswith("-") else found


def _searchable(node: NodeRead) -> str:
    labels = " ".join(f"{name}={value}" for name, value in node.labels.items())
    return f"{node.node_id} {node.site} {node.description} {labels}".lower()


def _last_seen(node: NodeRead) -> float:
    seen = node.agent.last_seen_at if node.agent else None
    return seen.timestamp() if seen else 0.0
