"""JSON routes of nodes."""

from __future__ import annotations

from fastapi import APIRouter, status

from control_server.agents.dependencies import Link
from control_server.nodes.dependencies import AccessAdmin, FleetReader, FleetWriter, Nodes
from control_server.nodes.schemas import NodeCreate, NodeId, NodeList, NodeRead

router = APIRouter(prefix="/api/v1/nodes", tags=["nodes"])


@router.get("")
async def list_nodes(_reader: FleetReader, nodes: Nodes) -> NodeList:
    """The fleet with health, liveness and generation."""
    return await nodes.list()


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_node(writer: FleetWriter, wanted: NodeCreate, nodes: Nodes) -> NodeRead:
    """Add a node; enrol its agent with an enrolment token."""
    return await nodes.create(writer, wanted)


@router.get("/{node_id}")
async def get_node(_reader: FleetReader, node_id: NodeId, nodes: Nodes) -> NodeRead:
    """One node."""
    return await nodes.get(node_id)


@router.post("/{node_id}/agent/reset", status_code=status.HTTP_204_NO_CONTENT)
async def reset_agent(admin: AccessAdmin, node_id: NodeId, nodes: Nodes, link: Link) -> None:
    """Forget the agent's identity and tokens; the next enrolment may come from another machine."""
    await nodes.reset_agent(admin, node_id)
    await link.drop(node_id, "The agent of this node was reset by an administrator.")
