"""What passes between this feature and those that speak to agents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Reach:
    """Nodes that can be spoken to; not certain where the tier could not say who is connected elsewhere."""

    nodes: frozenset[str]
    certain: bool


class LinkTimes(NamedTuple):
    """When a node's agent was here, as SQL knows it."""

    node_id: str
    connected_at: datetime | None
    disconnected_at: datetime | None
    last_seen_at: datetime | None
