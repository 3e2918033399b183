"""What passes between this feature and those that speak to agents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reach:
    """Nodes that can be spoken to; not certain where the tier could not say who is connected elsewhere."""

    nodes: frozenset[str]
    certain: bool
