"""Links between own nodes: made, changed, parted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.nodes.schemas import NodeId
from control_server.peerings.dependencies import Desk
from control_server.peerings.rules.links import link_errors, link_form_of, link_update_of, new_link_of
from control_server.peerings.schemas import LinkDocument, LinkForm, LinkRead, RowId
from control_server.policy.dependencies import Reader, Writer
from control_server.policy.pages import PublishForm, publish_page
from control_server.policy.rules.conflicts import reconciled, remembered
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/links/new")
async def show_new_link(
    request: Request, _writer: Writer, desk: Desk, node: Annotated[NodeId | None, Query()] = None
) -> Response:
    """The form of a new link."""
    nodes = (await desk.nodes.list()).items
    usual = LinkDocument()
    typed = LinkForm(
        node_a=node or "",
        kind=usual.kind,
        mtu=str(usual.mtu),
        keepalive=str(usual.keepalive),
        cost=str(usual.cost),
    )
    return render(request, "peerings/link.html", link=None, nodes=nodes, typed=typed, errors={}, conflicts=())


@router.post("/links/new")
async def create_link_from_page(
    request: Request,
    writer: Writer,
    desk: Desk,
    typed: Annotated[LinkForm, Form()],
) -> Response:
    """Join two nodes, or show what that would do."""
    nodes = (await desk.nodes.list()).items
    shown: dict[str, Any] = {"link": None, "nodes": nodes, "typed": typed, "errors": {}, "conflicts": ()}
    if typed.edit:
        return render(request, "peerings/link.html", **shown)

    def draw(refusal: AppError) -> Response:
        status = STATUS_OF_KIND[refusal.kind]
        told = {**shown, "errors": link_errors(refusal)}
        return render(request, "peerings/link.html", status_code=status, **told)

    with drawn_again(draw):
        made = await desk.links.create(writer, new_link_of(typed))
        preview = await desk.links.publisher.preview()
    back = f"/nodes/{made.node_a}/peerings"
    if preview is not None:
        form = PublishForm.of(typed, "/links/new", back, _crumbs(made.node_a))
        return publish_page(request, preview, form)
    return RedirectResponse(back, status_code=303)


@router.get("/links/{ident}")
async def show_link(request: Request, _reader: Reader, ident: RowId, desk: Desk) -> Response:
    """One link and its form."""
    return render(request, "peerings/link.html", **_shown(await desk.links.get(ident)))


@router.post("/links/{ident}")
async def change_link_from_page(
    request: Request,
    writer: Writer,
    ident: RowId,
    desk: Desk,
    typed: Annotated[LinkForm, Form()],
) -> Response:
    """Change what the form changes, or show what that would do."""
    present = await desk.links.get(ident)
    shown = {**_shown(present), "typed": typed}
    if typed.edit:
        return render(request, "peerings/link.html", **shown)

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "errors": link_errors(refusal)}
        if refusal.code == "fact_changed":
            told["typed"], told["conflicts"] = reconciled(typed, link_form_of(present))
        return render(request, "peerings/link.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    at = f"/links/{ident}"
    with drawn_again(draw):
        await desk.links.change(writer, ident, link_update_of(present, typed), typed.version)
        preview = await desk.links.publisher.preview()
    if preview is not None:
        return publish_page(request, preview, PublishForm.of(typed, at, at, _crumbs(present.node_a)))
    return RedirectResponse(at, status_code=303)


@router.post("/links/{ident}/delete")
async def delete_link_from_page(writer: Writer, ident: RowId, desk: Desk) -> Response:
    """Part two nodes."""
    node_id = (await desk.links.get(ident)).node_a
    await desk.links.delete(writer, ident)
    return RedirectResponse(f"/nodes/{node_id}/peerings", status_code=303)


def _crumbs(node_id: str) -> list[tuple[str, str]]:
    return [(node_id, f"/nodes/{node_id}")]


def _shown(link: LinkRead) -> dict[str, Any]:
    typed = remembered(link_form_of(link))
    return {"link": link, "nodes": [], "typed": typed, "errors": {}, "conflicts": ()}
