"""Peerings as their rows have them, for those who read all of them at once."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordedPeering:
    """A peering whose document is still text: it is read once, and kept as it stands."""

    node_id: str
    id: str
    name: str
    asn: int
    description: str
    enabled: bool
    #: A `PeeringDocument` as JSON.
    document: str

    def kept(self) -> str:
        """What of it goes into a generation to be gone back to, as JSON."""
        facts = {
            "id": self.id,
            "name": self.name,
            "asn": self.asn,
            "description": self.description,
            "enabled": self.enabled,
        }
        return f'{json.dumps(facts)[:-1]}, "document": {self.document}}}'
