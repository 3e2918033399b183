"""Portal routes of flaps."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.flaps.dependencies import FlapReader, Flaps, FlapWriter, Muting
from control_server.flaps.rules.addresses import address_of
from control_server.flaps.rules.snapshots import target_of
from control_server.flaps.schemas import FlapQuery, MuteForm, SubjectKind
from control_server.nodes.schemas import NodeId
from control_server.observations.dependencies import ObservationsOf
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

_SHOWN = 25


@router.get("/flaps")
async def show_flaps(
    request: Request,
    _reader: FlapReader,
    flaps: Flaps,
    observations: ObservationsOf,
    asked: Annotated[FlapQuery, Query()],
) -> Response:
    """Scores of sessions and prefixes, the highest first, and why the chosen one is what it is."""
    overview = await flaps.overview()
    chosen = await flaps.chosen(overview, asked)
    chart = await flaps.chart(overview.items)
    transitions = await flaps.transitions(limit=_SHOWN)
    # All above reads in sessions of its own, and comes before the first question to the request's.
    seen = await observations.get(chosen.now.node_id) if chosen else None
    sessions = [read for read in overview.items if read.kind is not SubjectKind.PREFIX]
    return render(
        request,
        "flaps/flaps.html",
        overview=overview,
        chosen=chosen,
        target=target_of(seen.snapshot, chosen.now.subject) if chosen and seen else "",
        chart=chart,
        sessions=[read for read in sessions if asked.above is None or read.score > asked.above],
        left_out=sum(asked.above is not None and read.score <= asked.above for read in sessions),
        prefixes=[read for read in overview.items if read.kind is SubjectKind.PREFIX][:_SHOWN],
        transitions=transitions,
        asked=asked,
        address_of=address_of,
    )


@router.post("/flaps/{node_id}/mute")
async def mute_from_page(
    writer: FlapWriter, node_id: NodeId, muting: Muting, typed: Annotated[MuteForm, Form()]
) -> Response:
    """Mute what is explained."""
    await muting.mute(writer, node_id, typed)
    return _back(node_id, typed)


@router.post("/flaps/{node_id}/unmute")
async def unmute_from_page(
    writer: FlapWriter, node_id: NodeId, muting: Muting, typed: Annotated[MuteForm, Form()]
) -> Response:
    """Lift the mute of what is explained."""
    await muting.unmute(writer, node_id, typed)
    return _back(node_id, typed)


def _back(node_id: str, typed: MuteForm) -> Response:
    place = address_of((node_id, typed.kind, typed.subject), typed.above)
    return RedirectResponse(place, status_code=303)
