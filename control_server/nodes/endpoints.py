"""JSON routes of nodes."""

from __future__ import annotations

from typing import Any

from fastapi import Response, status

from control_server.agents.dependencies import Link
from control_server.nodes.dependencies import AccessAdmin, Facts, FleetReader, FleetWriter, Nodes
from control_server.nodes.schemas import (
    Maintenance,
    NodeCreate,
    NodeFactsRead,
    NodeId,
    NodeList,
    NodeRead,
    NodeUpdate,
)
from control_server.policy.dependencies import VERSIONED, ReadVersion, tag
from control_server.policy.schemas import ChangePreview
from shared.web.routing import Router

router = Router(prefix="/api/v1/nodes", tags=["nodes"])

_GONE: dict[int | str, dict[str, Any]] = {204: {"description": "Deleted; 200 answers a preview"}}


@router.get("")
async def list_nodes(_reader: FleetReader, nodes: Nodes) -> NodeList:
    """The fleet with health, liveness and generation."""
    return await nodes.list()


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_node(
    writer: FleetWriter, wanted: NodeCreate, nodes: Nodes, facts: Facts, response: Response
) -> NodeRead | ChangePreview:
    """Add a node; enrol its agent with an enrolment token."""
    made = await nodes.create(writer, wanted)
    await facts.fill_in(made.node_id)
    await facts.publisher.publish(writer, f"{made.node_id} was added", None)
    if (preview := await facts.publisher.preview()) is not None:
        response.status_code = status.HTTP_200_OK
        return preview
    return await nodes.get(made.node_id)


@router.get("/{node_id}")
async def get_node(_reader: FleetReader, node_id: NodeId, nodes: Nodes) -> NodeRead:
    """One node."""
    return await nodes.shown(node_id)


@router.get("/{node_id}/facts")
async def get_node_facts(
    _reader: FleetReader, node_id: NodeId, facts: Facts, response: Response
) -> NodeFactsRead:
    """What operators wrote of the node."""
    found = await facts.get(node_id)
    tag(response, found.version)
    return found


@router.patch("/{node_id}", responses=VERSIONED)
async def change_node(
    writer: FleetWriter, node_id: NodeId, wanted: NodeUpdate, versions: ReadVersion, facts: Facts
) -> NodeFactsRead | ChangePreview:
    """Change what is named; every node whose state follows from it gets a generation."""
    written = await facts.change(writer, node_id, wanted, versions.read)
    if (preview := await facts.publisher.preview()) is not None:
        return preview
    versions.tag(written.version)
    return written


@router.put("/{node_id}/maintenance")
async def begin_maintenance(
    writer: FleetWriter, node_id: NodeId, wanted: Maintenance, facts: Facts
) -> NodeFactsRead | ChangePreview:
    """Drain the node (RFC 8326) until the maintenance ends; everybody sees why."""
    written = await facts.begin_maintenance(writer, node_id, wanted)
    return await facts.publisher.preview() or written


@router.delete("/{node_id}/maintenance")
async def end_maintenance(
    writer: FleetWriter, node_id: NodeId, facts: Facts
) -> NodeFactsRead | ChangePreview:
    """Bring the node back."""
    written = await facts.end_maintenance(writer, node_id)
    return await facts.publisher.preview() or written


@router.delete("/{node_id}", response_model=ChangePreview, responses=_GONE)
async def delete_node(
    admin: AccessAdmin, node_id: NodeId, nodes: Nodes, facts: Facts, link: Link
) -> ChangePreview | Response:
    """Forget a decommissioned node, once its agent runs the empty state."""
    applied = (await nodes.get(node_id)).generation.applied
    await facts.delete(admin, node_id, applied)
    if (preview := await facts.publisher.preview()) is not None:
        return preview
    await link.drop(node_id, "The node was deleted.")
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.post("/{node_id}/agent/reset", status_code=status.HTTP_204_NO_CONTENT)
async def reset_agent(admin: AccessAdmin, node_id: NodeId, nodes: Nodes, link: Link) -> None:
    """Forget the agent's identity and tokens; the next enrolment may come from another machine."""
    await nodes.reset_agent(admin, node_id)
    await link.drop(node_id, "The agent of this node was reset by an administrator.")
