"""Everything that nodes are judged by, in a number of statements that no number of nodes changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from control_server.agents.rules import ONLINE_WITHIN, Liveness
from control_server.agents.schemas import LinkTimes
from control_server.agents.service import AgentDirectory
from control_server.health.repository import HealthRepository, JudgedBy
from control_server.health.schemas import NodeView
from control_server.health.service.memory import Documents, Judged, Memory, documents_of
from shared.database import Database
from shared.kernel.clock import Clock

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Views:
    """Reads in a session of its own, so that no request holds one while a tier is asked."""

    database: Database
    #: The agents as a session sees them.
    agents_in: Callable[[Any], AgentDirectory]
    now: Clock
    memory: Memory = field(default_factory=Memory)

    async def judged(self, *, grace: timedelta = timedelta(0)) -> list[tuple[NodeView, Judged]]:
        """Every node, judged. `grace`: so much later an agent counts as silent."""
        views, now = await self.read(grace=grace), self.now()
        found: list[tuple[NodeView, Judged]] = []
        for number, view in enumerate(views, 1):
            found.append((view, self.memory.judged(view, now)))
            await _let_others_in(number)
        return found

    async def read(
        self, node_ids: Collection[str] | None = None, *, grace: timedelta = timedelta(0)
    ) -> list[NodeView]:
        """These nodes or all."""
        async with self.database.reading() as session:
            rows = await HealthRepository(session).list_nodes(node_ids)
            directory = self.agents_in(session)
            links = await directory.times_by_node(node_ids)
        documents = self.memory.documents if node_ids is None else documents_of
        views: list[NodeView] = []
        for number, row in enumerate(rows, 1):
            views.append(self._view(row, documents(row), links.get(row.node_id), (directory, grace)))
            await _let_others_in(number)
        if node_ids is None:
            self.memory.keep_only({row.node_id for row in rows})
        return views

    def _view(
        self,
        row: JudgedBy,
        documents: Documents,
        link: LinkTimes | None,
        heard_by: tuple[AgentDirectory, timedelta],
    ) -> NodeView:
        directory, grace = heard_by
        heartbeat = directory.heartbeat_of(row.node_id) if link else None
        heard_at = directory.heard_at(link)
        total = heartbeat.memory_total_bytes if heartbeat else 0
        maintenance = documents.maintenance or {}
        return NodeView(
            node_id=row.node_id,
            site=row.site,
            desired=row.desired,
            changed_at=row.changed_at,
            maintenance_reason=maintenance.get("reason", "") if maintenance else None,
            maintenance_since=_since(maintenance, row.changed_at) if maintenance else None,
            liveness=self._liveness(directory.liveness_of(link), link, heard_at, grace),
            heard_at=heard_at,
            connected_at=link.connected_at if link else None,
            memory_share=heartbeat.memory_used_bytes / total if heartbeat and total else None,
            facts=documents.facts,
            stood=documents.stood,
            routes=row.routes,
        )

    def _liveness(
        self, found: Liveness, link: LinkTimes | None, heard_at: datetime | None, grace: timedelta
    ) -> Liveness:
        if found is not Liveness.STALE or link is None or heard_at is None or not grace:
            return found
        linked = link.disconnected_at is None
        return Liveness.ONLINE if linked and self.now() - heard_at <= ONLINE_WITHIN + grace else found


async def _let_others_in(number: int) -> None:
    """A large fleet holds nobody else up."""
    if number % _AT_ONCE == 0:
        await asyncio.sleep(0)


def _since(maintenance: dict[str, Any], otherwise: datetime) -> datetime:
    since = maintenance.get("since")
    return datetime.fromisoformat(since) if since else otherwise
