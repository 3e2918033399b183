"""Portal routes of flaps."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from control_server.flaps.dependencies import FlapReader, Flaps
from control_server.flaps.schemas import FlapQuery, SubjectKind
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)

_SHOWN = 25


@router.get("/flaps")
async def show_flaps(
    request: Request,
    _reader: FlapReader,
    flaps: Flaps,
    asked: Annotated[FlapQuery, Query()],
) -> Response:
    """Scores of sessions and prefixes, the highest first, and why the chosen one is what it is."""
    overview = await flaps.overview()
    chosen = await flaps.chosen(overview, asked)
    return render(
        request,
        "flaps/flaps.html",
        overview=overview,
        chosen=chosen,
        chart=await flaps.chart(overview.items),
        sessions=[read for read in overview.items if read.kind is not SubjectKind.PREFIX],
        prefixes=[read for read in overview.items if read.kind is SubjectKind.PREFIX][:_SHOWN],
        transitions=await flaps.transitions(limit=_SHOWN),
    )
