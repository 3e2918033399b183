"""Peerings of a node, and the page of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.neighbours.rules import may_originate
from control_server.neighbours.schemas import NeighbourRead, PrefixCheck
from control_server.nodes.schemas import NodeId
from control_server.peerings.dependencies import Desk, IntroducedByEdit, NeighbourOf, PeeringDesk
from control_server.peerings.rules.forms import by_field, edit_form_of, update_of
from control_server.peerings.rules.listing import peering_page
from control_server.peerings.rules.sightings import sessions_seen
from control_server.peerings.schemas import PeeringEditForm, PeeringRead, PeeringUpdate, RowId
from control_server.peerings.schemas.forms import PeeringQuery
from control_server.policy.dependencies import Reader, Writer
from control_server.policy.pages import PublishForm, publish_page
from control_server.policy.rules.conflicts import reconciled, remembered
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/nodes/{node_id}/peerings")
async def show_peerings(
    request: Request,
    _reader: Reader,
    node_id: NodeId,
    desk: Desk,
    wanted: Annotated[PeeringQuery, Query()],
) -> Response:
    """Peerings of a node with their sessions, the worst first, and its links to own nodes."""
    node = await desk.nodes.get(node_id)
    peerings = (await desk.peerings.list(node_id)).items
    links = (await desk.links.list(node_id)).items
    snapshot = (await desk.observations.get(node_id)).snapshot
    seen = sessions_seen(snapshot, [peering.name for peering in peerings])
    return render(
        request,
        "peerings/peerings.html",
        node=node,
        total=len(peerings),
        found=peering_page(peerings, seen, wanted.q, wanted.page),
        q=wanted.q,
        links=links,
        snapshot=snapshot,
        seen=seen,
    )


@router.get("/peerings/{ident}")
async def show_peering(
    request: Request, _reader: Reader, ident: RowId, registry: NeighbourOf, desk: Desk
) -> Response:
    """One peering: its state, its form, what the registry says, and the text for the other side."""
    shown = await _peering(desk, ident)
    shown |= {"registry": registry, "checks": _checks(registry, shown["peering"])}
    return render(request, "peerings/peering.html", **shown)


@router.post("/peerings/{ident}", dependencies=[IntroducedByEdit])
async def change_from_page(
    request: Request,
    writer: Writer,
    ident: RowId,
    desk: Desk,
    typed: Annotated[PeeringEditForm, Form()],
) -> Response:
    """Change what the form changes, or show what that would do."""
    shown = await _peering(desk, ident)
    present: PeeringRead = shown["peering"]
    shown["typed"] = typed
    if typed.edit:
        return render(request, "peerings/peering.html", **shown)

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "errors": by_field(refusal)}
        if refusal.code == "fact_changed":
            told["typed"], told["conflicts"] = reconciled(typed, edit_form_of(present))
        return render(request, "peerings/peering.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    at = f"/peerings/{ident}"
    with drawn_again(draw):
        await desk.peerings.change(writer, ident, update_of(present, typed), typed.version)
        preview = await desk.peerings.publisher.preview()
    if preview is not None:
        crumbs = [*_crumbs(present.node_id), (present.name, at)]
        return publish_page(request, preview, PublishForm.of(typed, at, at, crumbs))
    return RedirectResponse(at, status_code=303)


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


def _crumbs(node_id: str) -> list[tuple[str, str]]:
    return [(node_id, f"/nodes/{node_id}")]


async def _peering(desk: PeeringDesk, ident: str) -> dict[str, Any]:
    peering = await desk.peerings.get(ident)
    snapshot = (await desk.observations.get(peering.node_id)).snapshot
    source = peering.registry_filter.source(peering.asn) if peering.registry_filter else None
    return {
        "peering": peering,
        "node": await desk.nodes.get(peering.node_id),
        "seen": sessions_seen(snapshot, [peering.name])[peering.name],
        "other": await desk.peerings.other_side(ident),
        "typed": remembered(edit_form_of(peering)),
        "errors": {},
        "conflicts": (),
        "registry": None,
        "checks": (),
        "filter_source": source,
        "learned": await desk.learned.find(source) if source else None,
    }


def _checks(registry: NeighbourRead | None, peering: PeeringRead) -> Sequence[PrefixCheck]:
    """What the registry says of the prefixes that are named by hand."""
    if registry is None or not registry.routes_known:
        return ()
    policy = peering.session.policy
    named = [entry.prefix for entry in (*(policy.prefix_list or ()), *policy.blackhole)]
    return [may_originate(registry.routes, prefix) for prefix in named]
