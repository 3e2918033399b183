"""What was read and judged of each node, used again for as long as what it came from is the same.

The database is asked every time; only parsing the same text again and judging the same facts again is saved.
Nothing has to be invalidated, and what is told is never older than what was read.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from control_server.health.repository import JudgedBy
from control_server.health.rules.findings import issues_of
from control_server.health.rules.judging import judge, outlook
from control_server.health.schemas import Issue, NodeHealth, NodeView, ReportFacts, Stood

_STOOD = TypeAdapter(dict[str, Stood])


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a node."""

    maintenance: dict[str, Any] | None
    facts: ReportFacts
    stood: dict[str, Stood]


@dataclass(frozen=True, slots=True)
class Judged:
    """How a node is, and what is wrong with it. Many readers share it: nobody may change it."""

    health: NodeHealth
    issues: list[Issue]


def documents_of(row: JudgedBy) -> Documents:
    """What the texts of a row say."""
    return Documents(
        maintenance=json.loads(row.maintenance) if row.maintenance else None,
        facts=ReportFacts.model_validate_json(row.facts or "{}"),
        stood=_STOOD.validate_json(row.stood or "{}"),
    )


@dataclass(slots=True)
class Memory:
    """At most one entry a node of the fleet."""

    _documents: dict[str, tuple[JudgedBy, Documents]] = field(default_factory=dict)
    _judged: dict[str, tuple[object, Judged]] = field(default_factory=dict)

    def documents(self, row: JudgedBy) -> Documents:
        """What the texts of a row say, parsed only where one of them is another than the last time."""
        kept = self._documents.get(row.node_id)
        if kept is not None and kept[0][-3:] == row[-3:]:
            return kept[1]
        found = documents_of(row)
        self._documents[row.node_id] = (row, found)
        return found

    def judged(self, view: NodeView, now: datetime) -> Judged:
        """How the node is, judged only where it looks different from the last time."""
        seen = outlook(view, now)
        kept = self._judged.get(view.node_id)
        if kept is not None and kept[0] == seen:
            return kept[1]
        health = judge(view, now)
        found = Judged(health, issues_of(view, health, now))
        self._judged[view.node_id] = (seen, found)
        return found

    def keep_only(self, node_ids: Collection[str]) -> None:
        """Forget the nodes that are there no more."""
        for kept in (self._documents, self._judged):
            for gone in kept.keys() - node_ids:
                del kept[gone]
