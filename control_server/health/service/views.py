"""Everything that nodes are judged by, in a number of statements that no number of nodes changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from control_server.agents.models import Agent
from control_server.agents.rules import ONLINE_WITHIN, Liveness
from control_server.agents.service import AgentDirectory
from control_server.health.models import NodeHealthRow
from control_server.health.repository import HealthRepository
from control_server.health.schemas import NodeView, ReportFacts, Stood
from control_server.nodes.models import Node
from shared.database import Database
from shared.kernel.clock import Clock

_AT_ONCE = 50
_STOOD = TypeAdapter(dict[str, Stood])


@dataclass(frozen=True, slots=True)
class Views:
    """Reads in a session of its own, so that no request holds one while a tier is asked."""

    database: Database
    #: The agents as a session sees them.
    agents_in: Callable[[Any], AgentDirectory]
    now: Clock

    async def read(
        self, node_ids: Collection[str] | None = None, *, grace: timedelta = timedelta(0)
    ) -> list[NodeView]:
        """These nodes or all. `grace`: so much later an agent counts as silent."""
        async with self.database.reading() as session:
            rows = await HealthRepository(session).list_nodes(node_ids)
            directory = self.agents_in(session)
            if node_ids is None:
                agents = await directory.by_node()
            else:
                found = [await directory.find(node.id) for node, _ in rows]
                agents = {agent.node_id: agent for agent in found if agent is not None}
            views: list[NodeView] = []
            for number, (node, row) in enumerate(rows, 1):
                views.append(self._view(node, row, agents.get(node.id), directory, grace))
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)  # a large fleet holds nobody else up
            return views

    def _view(
        self,
        node: Node,
        row: NodeHealthRow | None,
        agent: Agent | None,
        directory: AgentDirectory,
        grace: timedelta,
    ) -> NodeView:
        heartbeat = directory.heartbeat_of(node.id) if agent else None
        heard_at = _heard(directory, agent)
        total = heartbeat.memory_total_bytes if heartbeat else 0
        maintenance = node.maintenance or {}
        return NodeView(
            node_id=node.id,
            site=node.site,
            desired=node.generation,
            changed_at=node.updated_at,
            maintenance_reason=maintenance.get("reason", "") if node.maintenance else None,
            maintenance_since=_since(maintenance, node.updated_at) if node.maintenance else None,
            liveness=self._liveness(directory.liveness_of(agent), agent, heard_at, grace),
            heard_at=heard_at,
            connected_at=agent.connected_at if agent else None,
            memory_share=heartbeat.memory_used_bytes / total if heartbeat and total else None,
            facts=ReportFacts.model_validate(row.facts if row else {}),
            stood=_STOOD.validate_python(row.stood if row else {}),
            routes=node.routing.get("asn") is not None,
        )

    def _liveness(
        self, found: Liveness, agent: Agent | None, heard_at: datetime | None, grace: timedelta
    ) -> Liveness:
        if found is not Liveness.STALE or agent is None or heard_at is None or not grace:
            return found
        linked = agent.disconnected_at is None
        return Liveness.ONLINE if linked and self.now() - heard_at <= ONLINE_WITHIN + grace else found


def _since(maintenance: dict[str, Any], otherwise: datetime) -> datetime:
    since = maintenance.get("since")
    return datetime.fromisoformat(since) if since else otherwise


def _heard(directory: AgentDirectory, agent: Agent | None) -> datetime | None:
    if agent is None:
        return None
    beat = directory.link.presence.find(agent.node_id)
    return max((at for at in (agent.last_seen_at, beat.at if beat else None) if at is not None), default=None)
