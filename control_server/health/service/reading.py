"""Health for people: judged when it is asked for, and remembered for a few seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from control_server.flaps.schemas import SessionState
from control_server.health.repository import HealthRepository
from control_server.health.rules.findings import fleet_of
from control_server.health.rules.judging import judge
from control_server.health.schemas import FleetHealth, HealthChange, Issue, NodeHealth, SessionHealth
from control_server.health.service.views import Views
from control_server.keys import HEALTH_FLEET, HEALTH_NODE
from control_server.nodes.errors import NodeNotFound
from shared.cache import Cache

_LIFE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class HealthService:
    """Reads in sessions of its own."""

    views: Views
    cache: Cache

    async def fleet(self) -> FleetHealth:
        """The whole fleet, the worst first; to be read only, for others may be reading the same."""
        if not self.cache.configured:
            return await self._judge_fleet()
        judged: list[FleetHealth] = []

        async def load() -> dict[str, Any]:
            judged.append(await self._judge_fleet())
            return judged[0].model_dump(mode="json")

        found = await self.cache.get_or_load(HEALTH_FLEET.key(), load, ttl_seconds=_LIFE_SECONDS)
        return judged[0] if judged else FleetHealth.model_validate(found)

    async def issues(self) -> list[Issue]:
        """Everything that needs a person, the worst first."""
        return (await self.fleet()).issues

    async def node(self, node_id: str) -> NodeHealth:
        """One node, with its sessions. Raises NodeNotFound."""

        async def load() -> dict[str, Any] | None:
            return await self._judge_node(node_id)

        found = await self.cache.get_or_load(HEALTH_NODE.key(node=node_id), load, ttl_seconds=_LIFE_SECONDS)
        if found is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        return NodeHealth.model_validate(found)

    async def history(self, node_id: str | None = None, limit: int = 100) -> list[HealthChange]:
        """What changed, the latest first."""
        async with self.views.database.reading() as session:
            rows = await HealthRepository(session).list_changes(node_id, limit)
        return [HealthChange.model_validate(row) for row in rows]

    async def _judge_fleet(self) -> FleetHealth:
        judged = [found for _, found in await self.views.judged()]
        issues = [issue for found in judged for issue in found.issues]
        return fleet_of([found.health for found in judged], issues, self.views.now())

    async def _judge_node(self, node_id: str) -> dict[str, Any] | None:
        views = await self.views.read([node_id])
        if not views:
            return None
        health = judge(views[0], self.views.now())
        async with self.views.database.reading() as session:
            sessions = await HealthRepository(session).sessions_of(node_id)
        health.session_list = [SessionHealth.model_validate(found) for found in sessions]
        if health.sessions.unknown == health.sessions.total:
            for known in health.session_list:
                known.state = SessionState.UNKNOWN
        return health.model_dump(mode="json")
