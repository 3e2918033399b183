"""JSON routes of health."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from control_server.health.dependencies import Health, HealthReader
from control_server.health.schemas import FleetHealth, HealthChange, Issue, NodeHealth
from control_server.nodes.schemas import NodeId
from shared.web.routing import Router

router = Router(prefix="/api/v1/health", tags=["health"])


@router.get("")
async def read_fleet_health(_reader: HealthReader, health: Health) -> FleetHealth:
    """How all nodes are, the worst first, and everything that needs a person."""
    return await health.fleet()


@router.get("/issues")
async def list_issues(_reader: HealthReader, health: Health) -> list[Issue]:
    """Everything that needs a person, the worst first."""
    return await health.issues()


@router.get("/history")
async def list_health_changes(
    _reader: HealthReader,
    health: Health,
    node_id: Annotated[NodeId | None, Query(description="Only of this node")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[HealthChange]:
    """What changed, the latest first."""
    return await health.history(node_id, limit)


@router.get("/nodes/{node_id}")
async def read_node_health(_reader: HealthReader, node_id: NodeId, health: Health) -> NodeHealth:
    """How one node is, part by part, and every session."""
    return await health.node(node_id)
