"""A new peering in four steps: the neighbour, the node, the tunnel and its session, and a last look."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.neighbours.schemas import NeighbourRead
from control_server.nodes.rules import as_number
from control_server.nodes.schemas import NodeId, RoutingFacts
from control_server.peerings.dependencies import Desk, Filled, Named, PeeringDesk
from control_server.peerings.rules.derived import KEEPALIVE, completed, derived
from control_server.peerings.rules.forms import by_field, create_of, unfolded
from control_server.peerings.schemas import PeeringForm, TunnelFacts
from control_server.policy.dependencies import REASON_FIELD, Writer
from control_server.policy.pages import shown_changes
from control_server.policy.schemas import ChangePreview
from shared.kernel.errors import AppError, FieldError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/peerings/new")
async def begin(
    request: Request,
    _writer: Writer,
    named: Named,
    desk: Desk,
    node: Annotated[NodeId | None, Query()] = None,
) -> Response:
    """The first two steps: whose network, and at which node."""
    registry, asn = named.registry, named.typed.asn
    if registry is not None and node is not None:
        return RedirectResponse(f"/nodes/{node}/peerings/new?{urlencode({'asn': asn})}", status_code=303)
    shown: dict[str, Any] = {
        "step": 1 if registry is None else 2,
        "node": None,
        "nodes": (await desk.nodes.list()).items,
        "chosen": node,
        "registry": registry,
        "errors": _asn_errors(asn),
    }
    return render(request, "peerings/begin.html", typed=named.typed, **shown)


@router.get("/nodes/{node_id}/peerings/new")
async def show_wizard(
    request: Request, _writer: Writer, named: Named, node_id: NodeId, desk: Desk
) -> Response:
    """The third step; without an AS number the first."""
    shown = await _wizard(desk, node_id, named.registry)
    if shown["asn"] is None:
        told = {**shown, "errors": _asn_errors(named.typed.asn)}
        return render(request, "peerings/begin.html", typed=named.typed, **told)
    typed = named.typed.model_copy(update={"keepalive": KEEPALIVE})
    return render(request, "peerings/wizard.html", **shown, **_derived(shown, typed))


@router.post("/nodes/{node_id}/peerings/new")
async def create_from_page(
    request: Request, writer: Writer, filled: Filled, node_id: NodeId, desk: Desk
) -> Response:
    """Show what the peering would change, or make it: all of it or nothing."""
    shown = await _wizard(desk, node_id, filled.registry)
    shown |= _derived(shown, unfolded(filled.typed))
    if filled.typed.edit:
        return render(request, "peerings/wizard.html", **shown)

    def draw(refusal: AppError) -> Response:
        status = STATUS_OF_KIND[refusal.kind]
        told = {**shown, "errors": by_field(refusal)}
        return render(request, "peerings/wizard.html", status_code=status, **told)

    with drawn_again(draw):
        wanted = await desk.peerings.with_sealed_key(create_of(node_id, shown["typed"]))
        made = await desk.peerings.create(writer, wanted)
        other = await desk.peerings.other_side(made.id)
        preview = await desk.peerings.publisher.preview()
    if preview is None:
        return RedirectResponse(f"/peerings/{made.id}#other-side", status_code=303)
    sealed = wanted.link.preshared_key if isinstance(wanted.link, TunnelFacts) else None
    return _last_look(request, preview, {**shown, "other": other, "made": made}, sealed or "")


def _last_look(request: Request, preview: ChangePreview, shown: dict[str, Any], sealed: str) -> Response:
    """The fourth step. What is sent from it is what was looked at; a secret goes back sealed alone."""
    typed: PeeringForm = shown["typed"]
    typed = typed.model_copy(update={"preshared_key": "", "sealed_key": sealed})
    fields = {name: str(value) for name, value in typed.model_dump(exclude={"edit"}).items()}
    told = {**shown, "typed": typed, "fields": fields, "step": 4, "reason_field": REASON_FIELD}
    return render(request, "peerings/review.html", **told, **shown_changes(preview))


async def _wizard(desk: PeeringDesk, node_id: str, registry: NeighbourRead | None) -> dict[str, Any]:
    node = await desk.nodes.get(node_id)
    found = await desk.nodes.find(node_id)
    return {
        "node": node,
        "chosen": node_id,
        "nodes": [],
        "routing": RoutingFacts.model_validate(found.routing if found else {}),
        "errors": {},
        "asn": registry.asn if registry is not None else None,
        "step": 1 if registry is None else 3,
        "registry": registry,
        "pooled": await desk.peerings.offers_ports(),
        "others": await desk.peerings.of_network(registry.asn) if registry is not None else [],
    }


def _derived(shown: dict[str, Any], typed: PeeringForm) -> dict[str, Any]:
    asn = shown["asn"]
    if asn is None:
        return {"typed": typed, "derived": []}
    form = completed(typed, asn, shown["routing"], shown["registry"])
    rows = list(derived(form, asn, shown["routing"], pooled=shown["pooled"]))
    return {"typed": form, "derived": rows}


def _asn_errors(asn: str) -> dict[str, FieldError]:
    if not asn.strip() or as_number(asn) is not None:
        return {}
    return {"asn": FieldError("asn", "asn_refused", "Write an AS number such as AS4242429901.")}
