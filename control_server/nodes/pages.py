"""Portal routes of nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.nodes.dependencies import Facts, FleetReader, FleetWriter, Joined, Nodes
from control_server.nodes.rules import by_field, matching, settings_form_of, update_of
from control_server.nodes.schemas import (
    Maintenance,
    MaintenanceForm,
    NodeFactsRead,
    NodeId,
    NodeRead,
    SettingsForm,
)
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

Sorting = Literal["name", "-name", "state", "-state", "seen", "-seen"]


@router.get("/nodes")
async def show_nodes(
    request: Request,
    _reader: FleetReader,
    nodes: Nodes,
    q: Annotated[str, Query(max_length=100)] = "",
    sort: Sorting = "state",
) -> Response:
    """The fleet as a table."""
    fleet = await nodes.list()
    shown = matching(fleet.items, q, sort)
    return render(request, "nodes/nodes.html", nodes=shown, total=fleet.total, q=q, sorting=sort)


@router.post("/nodes/{node_id}/maintenance")
async def begin_maintenance_from_page(
    writer: FleetWriter, node_id: NodeId, facts: Facts, typed: Annotated[MaintenanceForm, Form()]
) -> Response:
    """Drain the node."""
    until = f"{typed.until.strip()}Z" if typed.until.strip() else None
    wanted = parse(Maintenance, {"reason": typed.reason.strip(), "until": until})
    await facts.begin_maintenance(writer, node_id, wanted)
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
    return render(request, "nodes/settings.html", typed=settings_form_of(found), **shown)


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

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "errors": by_field(refusal), "typed": typed}
        if refusal.code == "fact_changed":
            # Sent again, the form is about the version that is shown beside it now.
            told["current"] = settings_form_of(present)
            told["typed"] = typed.model_copy(update={"version": present.version})
        return render(request, "nodes/settings.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        await joined.facts.change(writer, node_id, update_of(present, typed), typed.version)
        preview = await joined.facts.publisher.preview()
    if preview is not None:
        return render(request, "nodes/settings.html", **{**shown, "typed": typed, "preview": preview})
    return RedirectResponse(f"/nodes/{node_id}/settings", status_code=303)


def _settings(node: NodeRead, facts: NodeFactsRead) -> dict[str, Any]:
    return {"node": node, "facts": facts, "errors": {}, "current": None, "preview": None}
