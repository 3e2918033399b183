"""Portal routes of nodes."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.agents.dependencies import Link
from control_server.nodes.dependencies import AccessAdmin, Facts, FleetReader, FleetWriter, Joined, Nodes
from control_server.nodes.rules import address, by_field, settings_form_of, update_of
from control_server.nodes.schemas import (
    LifecycleForm,
    Maintenance,
    MaintenanceForm,
    NodeFactsRead,
    NodeId,
    NodeQuery,
    NodeRead,
    NodeUpdate,
    SettingsForm,
)
from control_server.policy.pages import PublishForm, publish_page
from control_server.policy.rules.conflicts import reconciled, remembered
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

Sorting = Literal["name", "-name", "state", "-state", "seen", "-seen"]
StateWanted = Literal["", "ok", "degraded", "stale", "down", "unknown", "maintenance"]


async def _query(
    q: Annotated[str, Query(max_length=100)] = "",
    state: StateWanted = "",
    sort: Sorting = "state",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> NodeQuery:
    return NodeQuery(q, state, sort, page)


@router.get("/nodes")
async def show_nodes(
    request: Request,
    _reader: FleetReader,
    nodes: Nodes,
    wanted: Annotated[NodeQuery, Depends(_query)],
) -> Response:
    """The fleet as a table, a page at a time."""
    found = await nodes.page(wanted)
    return render(request, "nodes/nodes.html", found=found, wanted=wanted, at=partial(address, wanted))


@router.post("/nodes/{node_id}/maintenance")
async def begin_maintenance_from_page(
    request: Request,
    writer: FleetWriter,
    node_id: NodeId,
    joined: Joined,
    typed: Annotated[MaintenanceForm, Form()],
) -> Response:
    """Drain the node, or say why it is drained; the form again with what is refused."""
    node = await joined.nodes.get(node_id)

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {"node": node, "typed": typed, "errors": by_field(refusal, MaintenanceForm)}
        return render(request, "nodes/maintenance.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        until = f"{typed.until.strip()}Z" if typed.until.strip() else None
        wanted = parse(Maintenance, {"reason": typed.reason.strip(), "until": until})
        await joined.facts.begin_maintenance(writer, node_id, wanted)
    return RedirectResponse(f"/nodes/{node_id}", status_code=303)


@router.post("/nodes/{node_id}/maintenance/end")
async def end_maintenance_from_page(writer: FleetWriter, node_id: NodeId, facts: Facts) -> Response:
    """Bring the node back."""
    await facts.end_maintenance(writer, node_id)
    return RedirectResponse(f"/nodes/{node_id}", status_code=303)


@router.get("/nodes/{node_id}/settings")
async def show_settings(
    request: Request, _reader: FleetReader, node_id: NodeId, nodes: Nodes, facts: Facts
) -> Response:
    """The form of the node's facts."""
    found = await facts.get(node_id)
    shown = _settings(await nodes.get(node_id), found)
    return render(request, "nodes/settings.html", typed=remembered(settings_form_of(found)), **shown)


@router.post("/nodes/{node_id}/settings")
async def change_settings(
    request: Request,
    writer: FleetWriter,
    node_id: NodeId,
    joined: Joined,
    typed: Annotated[SettingsForm, Form()],
) -> Response:
    """Change what the form changes, or show what that would do."""
    present = await joined.facts.get(node_id)
    shown = _settings(await joined.nodes.get(node_id), present)
    if typed.edit:
        return render(request, "nodes/settings.html", typed=typed, **shown)

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "errors": by_field(refusal), "typed": typed}
        if refusal.code == "fact_changed":
            told["typed"], told["conflicts"] = reconciled(typed, settings_form_of(present))
        return render(request, "nodes/settings.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        await joined.facts.change(writer, node_id, update_of(present, typed), typed.version)
        preview = await joined.facts.publisher.preview()
    at = f"/nodes/{node_id}/settings"
    if preview is not None:
        crumbs = [(node_id, f"/nodes/{node_id}")]
        return publish_page(request, preview, PublishForm.of(typed, at, at, crumbs))
    return RedirectResponse(at, status_code=303)


@router.post("/nodes/{node_id}/lifecycle")
async def change_lifecycle_from_page(
    request: Request,
    writer: FleetWriter,
    node_id: NodeId,
    facts: Facts,
    typed: Annotated[LifecycleForm, Form()],
) -> Response:
    """Take the node out of service for good, or back into it; or show what that would do."""
    wanted = parse(NodeUpdate, {"lifecycle": typed.lifecycle})
    await facts.change(writer, node_id, wanted, typed.version)
    preview = await facts.publisher.preview()
    back = f"/nodes/{node_id}/settings"
    if preview is not None:
        fields = {"version": str(typed.version), "lifecycle": typed.lifecycle}
        form = PublishForm(
            f"/nodes/{node_id}/lifecycle", fields, back, [(node_id, f"/nodes/{node_id}")], editable=False
        )
        return publish_page(request, preview, form)
    return RedirectResponse(back, status_code=303)


@router.post("/nodes/{node_id}/delete")
async def delete_node_from_page(admin: AccessAdmin, node_id: NodeId, joined: Joined, link: Link) -> Response:
    """Forget a decommissioned node, once its agent runs the empty state."""
    applied = (await joined.nodes.get(node_id)).generation.applied
    await joined.facts.delete(admin, node_id, applied)
    await link.drop(node_id, "The node was deleted.")
    return RedirectResponse("/nodes", status_code=303)


def _settings(node: NodeRead, facts: NodeFactsRead) -> dict[str, Any]:
    return {"node": node, "facts": facts, "errors": {}, "conflicts": ()}
