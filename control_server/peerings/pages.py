"""Portal routes of peerings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.nodes.schemas import NodeId
from control_server.peerings.dependencies import Desk, PeeringDesk
from control_server.peerings.rules.forms import by_field, create_of, edit_form_of, update_of
from control_server.peerings.rules.sightings import sessions_seen
from control_server.peerings.schemas import PeeringEditForm, PeeringForm, PeeringRead, PeeringUpdate, RowId
from control_server.policy.dependencies import Reader, Writer
from control_server.policy.schemas import ChangePreview
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/nodes/{node_id}/peerings")
async def show_peerings(request: Request, _reader: Reader, node_id: NodeId, desk: Desk) -> Response:
    """Peerings of a node with their sessions, and its links to own nodes."""
    node = await desk.nodes.get(node_id)
    peerings = (await desk.peerings.list(node_id)).items
    links = (await desk.links.list(node_id)).items
    snapshot = (await desk.observations.get(node_id)).snapshot
    return render(
        request,
        "peerings/peerings.html",
        node=node,
        peerings=peerings,
        links=links,
        snapshot=snapshot,
        seen=sessions_seen(snapshot, [peering.name for peering in peerings]),
    )


@router.get("/nodes/{node_id}/peerings/new")
async def show_wizard(
    request: Request,
    _writer: Writer,
    node_id: NodeId,
    desk: Desk,
    asn: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """The form of a new peering, with what the registry says of the AS that is asked for."""
    shown = await _wizard(desk, node_id)
    shown["as_name"] = await desk.as_name(asn)
    return render(request, "peerings/wizard.html", typed=PeeringForm(asn=asn), **shown)


@router.post("/nodes/{node_id}/peerings/new")
async def create_from_page(
    request: Request, writer: Writer, node_id: NodeId, desk: Desk, typed: Annotated[PeeringForm, Form()]
) -> Response:
    """Show what the peering would change, or make it: all of it or nothing."""
    shown = await _wizard(desk, node_id)

    def draw(refusal: AppError) -> Response:
        told = {**shown, "errors": by_field(refusal)}
        status = STATUS_OF_KIND[refusal.kind]
        return render(request, "peerings/wizard.html", status_code=status, typed=typed, **told)

    with drawn_again(draw):
        made = await desk.peerings.create(writer, create_of(node_id, typed))
        preview = await desk.peerings.publisher.preview()
    if preview is not None:
        shown |= {"preview": preview, "made": made}
        return render(request, "peerings/wizard.html", typed=typed, **shown)
    return RedirectResponse(f"/peerings/{made.id}#other-side", status_code=303)


@router.get("/peerings/{ident}")
async def show_peering(request: Request, _reader: Reader, ident: RowId, desk: Desk) -> Response:
    """One peering: its state, its form, and the text for the other side."""
    shown = await _peering(desk, ident)
    shown["as_name"] = await desk.as_name(str(shown["peering"].asn))
    return render(request, "peerings/peering.html", **shown)


@router.post("/peerings/{ident}")
async def change_from_page(
    request: Request, writer: Writer, ident: RowId, desk: Desk, typed: Annotated[PeeringEditForm, Form()]
) -> Response:
    """Change what the form changes, or show what that would do."""
    shown = await _peering(desk, ident)
    present: PeeringRead = shown["peering"]
    shown["typed"] = typed

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "errors": by_field(refusal)}
        if refusal.code == "fact_changed":
            # Sent again, the form is about the version that is shown beside it now.
            told["current"] = edit_form_of(present)
            told["typed"] = typed.model_copy(update={"version": present.version})
        return render(request, "peerings/peering.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        await desk.peerings.change(writer, ident, update_of(present, typed), typed.version)
        preview = await desk.peerings.publisher.preview()
    if preview is not None:
        return render(request, "peerings/peering.html", **{**shown, "preview": preview})
    return RedirectResponse(f"/peerings/{ident}", status_code=303)


@router.post("/peerings/{ident}/enabled")
async def switch_from_page(
    writer: Writer,
    ident: RowId,
    desk: Desk,
    version: Annotated[int, Form()],
    enabled: Annotated[bool, Form()] = False,  # noqa: FBT002 - FastAPI passes it by name
) -> Response:
    """Withdraw the peering and keep its facts, or bring it back."""
    await desk.peerings.change(writer, ident, PeeringUpdate(enabled=enabled), version)
    return RedirectResponse(f"/peerings/{ident}", status_code=303)


@router.post("/peerings/{ident}/delete")
async def delete_from_page(writer: Writer, ident: RowId, desk: Desk) -> Response:
    """Withdraw the peering and forget it."""
    node_id = (await desk.peerings.get(ident)).node_id
    await desk.peerings.delete(writer, ident)
    return RedirectResponse(f"/nodes/{node_id}/peerings", status_code=303)


async def _wizard(desk: PeeringDesk, node_id: str) -> dict[str, Any]:
    node = await desk.nodes.get(node_id)
    found = await desk.nodes.find(node_id)
    preview: ChangePreview | None = None
    return {
        "node": node,
        "routing": found.routing if found else {},
        "errors": {},
        "preview": preview,
        "made": None,
        "as_name": None,
    }


async def _peering(desk: PeeringDesk, ident: str) -> dict[str, Any]:
    peering = await desk.peerings.get(ident)
    snapshot = (await desk.observations.get(peering.node_id)).snapshot
    return {
        "peering": peering,
        "node": await desk.nodes.get(peering.node_id),
        "seen": sessions_seen(snapshot, [peering.name])[peering.name],
        "other": await desk.peerings.other_side(ident),
        "typed": edit_form_of(peering),
        "errors": {},
        "current": None,
        "preview": None,
        "as_name": None,
    }
