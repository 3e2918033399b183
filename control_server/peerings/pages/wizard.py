"""A new peering in four steps: the neighbour, the node, the tunnel and its session, and a last look."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.nodes.rules import as_number
from control_server.nodes.schemas import NodeId, RoutingFacts
from control_server.peerings.dependencies import Desk, IntroducedByForm, PeeringDesk
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

AsnText = Annotated[str, Query(max_length=20)]


@router.get("/peerings/new")
async def begin(
    request: Request,
    _writer: Writer,
    desk: Desk,
    asn: AsnText = "",
    node: Annotated[NodeId | None, Query()] = None,
) -> Response:
    """The first two steps: whose network, and at which node."""
    number = as_number(asn)
    if number is not None and node is not None:
        return RedirectResponse(f"/nodes/{node}/peerings/new?{urlencode({'asn': asn})}", status_code=303)
    nodes = (await desk.nodes.list()).items
    registry = await desk.neighbours.describe(number) if number is not None else None
    step = 2 if number is not None else 1
    shown: dict[str, Any] = {
        "step": step,
        "asn": number,
        "node": None,
        "nodes": nodes,
        "chosen": node,
        "registry": registry,
    }
    return render(
        request, "peerings/begin.html", typed=PeeringForm(asn=asn), errors=_asn_errors(asn), **shown
    )


@router.get("/nodes/{node_id}/peerings/new")
async def show_wizard(
    request: Request, _writer: Writer, node_id: NodeId, desk: Desk, asn: AsnText = ""
) -> Response:
    """The third step; without an AS number the first."""
    shown = await _wizard(desk, node_id, asn)
    if shown["asn"] is None:
        return render(
            request,
            "peerings/begin.html",
            typed=PeeringForm(asn=asn),
            **{**shown, "errors": _asn_errors(asn)},
        )
    typed = PeeringForm(asn=asn, keepalive=KEEPALIVE)
    return render(request, "peerings/wizard.html", **shown, **_derived(shown, typed))


@router.post("/nodes/{node_id}/peerings/new", dependencies=[IntroducedByForm])
async def create_from_page(
    request: Request,
    writer: Writer,
    node_id: NodeId,
    desk: Desk,
    typed: Annotated[PeeringForm, Form()],
) -> Response:
    """Show what the peering would change, or make it: all of it or nothing."""
    shown = await _wizard(desk, node_id, typed.asn)
    filled = _derived(shown, unfolded(typed))
    if typed.edit:
        return render(request, "peerings/wizard.html", **shown, **filled)

    def draw(refusal: AppError) -> Response:
        status = STATUS_OF_KIND[refusal.kind]
        told = {**shown, **filled, "errors": by_field(refusal)}
        return render(request, "peerings/wizard.html", status_code=status, **told)

    with drawn_again(draw):
        wanted = await desk.peerings.with_sealed_key(create_of(node_id, filled["typed"]))
        made = await desk.peerings.create(writer, wanted)
        other = await desk.peerings.other_side(made.id)
        preview = await desk.peerings.publisher.preview()
    if preview is None:
        return RedirectResponse(f"/peerings/{made.id}#other-side", status_code=303)
    sealed = wanted.link.preshared_key if isinstance(wanted.link, TunnelFacts) else None
    return _last_look(request, preview, {**shown, **filled, "other": other, "made": made}, sealed or "")


def _last_look(request: Request, preview: ChangePreview, shown: dict[str, Any], sealed: str) -> Response:
    """The fourth step. What is sent from it is what was looked at; a secret goes back sealed alone."""
    typed: PeeringForm = shown["typed"]
    typed = typed.model_copy(update={"preshared_key": "", "sealed_key": sealed})
    fields = {name: str(value) for name, value in typed.model_dump(exclude={"edit"}).items()}
    told = {**shown, "typed": typed, "fields": fields, "step": 4, "reason_field": REASON_FIELD}
    return render(request, "peerings/review.html", **told, **shown_changes(preview))


async def _wizard(desk: PeeringDesk, node_id: str, asn: str) -> dict[str, Any]:
    node = await desk.nodes.get(node_id)
    found = await desk.nodes.find(node_id)
    number = as_number(asn)
    step: Literal[1, 3] = 1 if number is None else 3
    return {
        "node": node,
        "chosen": node_id,
        "nodes": [],
        "routing": RoutingFacts.model_validate(found.routing if found else {}),
        "errors": {},
        "asn": number,
        "step": step,
        "registry": await desk.neighbours.describe(number) if number is not None else None,
        "pooled": await desk.peerings.offers_ports(),
        "others": await desk.peerings.of_network(number) if number is not None else [],
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
