"""Portal routes of probes: the looking glass, and the permalink of each probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from control_server.nodes.dependencies import Nodes
from control_server.nodes.schemas import NodeList
from control_server.probes.dependencies import FleetReader, ProbeRunner, Probes, Reader
from control_server.probes.schemas import ProbeCreate, ProbeFilter, ProbePage
from shared.kernel.errors import AppError
from shared.protocol.probes import ProbeOptions, Tool
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

_LISTED = 20


class Wanted(BaseModel):
    """What the address of the looking glass may say."""

    node: list[str] = Field(default_factory=list, max_length=500, description="Chosen beforehand")
    target: str = Field(default="", max_length=253)
    cursor: str | None = Field(default=None, max_length=256)


@router.get("/probes")
async def show_looking_glass(
    request: Request,
    _reader: FleetReader,
    nodes: Nodes,
    probes: Probes,
    wanted: Annotated[Wanted, Query()],
) -> Response:
    """The form, and the probes of late."""
    fleet = await nodes.list()
    page = await probes.list_page(ProbeFilter(), wanted.cursor, _LISTED)
    typed = {"tool": Tool.PING, "nodes": wanted.node, "target": wanted.target}
    return _looking_glass(request, fleet, page, typed)


@router.post("/probes")
async def run_probe(request: Request, caller: ProbeRunner, nodes: Nodes, probes: Probes) -> Response:
    """Run what the form says; a refused form comes back as it was."""
    form = await request.form()
    typed = {
        "tool": str(form.get("tool", "")),
        "target": str(form.get("target", "")).strip(),
        "nodes": [str(name) for name in form.getlist("nodes")],
        "family": str(form.get("family", "")),
        "count": str(form.get("count", "")),
    }
    fleet = await nodes.list()
    page = await probes.list_page(ProbeFilter(), None, _LISTED)
    with drawn_again(lambda refusal: _looking_glass(request, fleet, page, typed, refusal)):
        named = {name: typed[name] for name in ("tool", "target", "nodes")}
        families: dict[object, object] = {"4": 4, "6": 6}
        chosen = {"count": typed["count"], "family": families.get(typed["family"], typed["family"])}
        options = parse(ProbeOptions, {name: value for name, value in chosen.items() if value})
        started = await probes.create(caller, parse(ProbeCreate, {**named, "options": options}))
    return RedirectResponse(f"/probes/{started.id}", status_code=303)


@router.get("/probes/{probe_id}")
async def show_probe(
    request: Request, probe_id: UUID, _reader: FleetReader, probes: Reader, nodes: Nodes
) -> Response:
    """A probe, live or from the archive."""
    probe = await probes.read(probe_id)
    fleet = {node.node_id: node for node in (await nodes.list()).items}
    last = probe.lines[-1].seq if probe.lines else 0
    return render(request, "probes/probe.html", probe=probe, fleet=fleet, last=last)


@router.post("/probes/{probe_id}/cancel")
async def cancel_probe_from_page(probe_id: UUID, caller: ProbeRunner, probes: Probes) -> Response:
    """Ask the nodes to stop."""
    await probes.cancel(caller, probe_id)
    return RedirectResponse(f"/probes/{probe_id}", status_code=303)


def _looking_glass(
    request: Request,
    fleet: NodeList,
    page: ProbePage,
    typed: Mapping[str, object],
    refusal: AppError | None = None,
) -> Response:
    return render(
        request,
        "probes/looking_glass.html",
        status_code=STATUS_OF_KIND[refusal.kind] if refusal else 200,
        nodes=fleet.items,
        probes=page,
        typed=typed,
        tools=list(Tool),
        refusal=refusal,
        errors=field_messages(refusal),
    )
