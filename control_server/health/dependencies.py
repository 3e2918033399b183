"""Wiring of health."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from control_server.agents.dependencies import directory
from control_server.agents.service import AgentLink
from control_server.health.repository import HealthRepository
from control_server.health.schemas import NodeHealth
from control_server.health.service import HealthRecorder, HealthRetention, HealthService, HealthWatch, Views
from control_server.nodes.errors import NodeNotFound
from control_server.nodes.schemas import HealthRead
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require


def _views(resources: ControlResources, link: AgentLink) -> Views:
    return Views(resources.database, lambda session: directory(session, link), resources.now)


def health_of(resources: ControlResources, link: AgentLink) -> HealthService:
    """Health for people."""
    return HealthService(_views(resources, link), resources.cache)


@dataclass(frozen=True, slots=True)
class NodeHealths:
    """Health as the list of nodes shows it."""

    health: HealthService

    async def judged(self, node_id: str | None) -> dict[str, tuple[str, HealthRead]]:
        """By node, of one or all: the liveness that it was judged by, and the health."""
        try:
            nodes = (
                (await self.health.fleet()).nodes if node_id is None else [await self.health.node(node_id)]
            )
        except NodeNotFound:
            return {}
        return {node.node_id: (node.liveness, _read(node)) for node in nodes}


def _read(node: NodeHealth) -> HealthRead:
    codes = [reason.code for reason in node.reasons]
    # Not validated: every value is ours, and a list shows a large fleet.
    return HealthRead.model_construct(
        state=node.state.value,
        reasons=codes,
        since=node.since,
        established=node.sessions.established,
        sessions=node.sessions.total,
    )


def recorder_of(resources: ControlResources) -> HealthRecorder:
    """What keeps facts of reports."""
    return HealthRecorder(resources.cache)


def watch_of(resources: ControlResources, link: AgentLink) -> HealthWatch:
    """The watch of this process."""
    return HealthWatch(_views(resources, link), recorder_of(resources))


def health_retention(resources: ControlResources) -> HealthRetention:
    """Forgets what has had its time."""
    return HealthRetention(resources.database, resources.settings.keep.health, resources.now)


async def _health(request: Request) -> HealthService:
    # One for the whole application: it remembers what it has read and judged.
    healths: NodeHealths = request.app.state.node_healths
    return healths.health


Health = Annotated[HealthService, Depends(_health)]
HealthReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]


async def health_as_text(resources: ControlResources) -> str:
    """A text that differs when the health of a node does."""
    async with resources.database.reading() as session:
        return await HealthRepository(session).newest()
