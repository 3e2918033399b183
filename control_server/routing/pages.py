"""Portal routes of routing."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from control_server.policy.dependencies import Reader
from control_server.routing.dependencies import Routing
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(prefix="/routing", include_in_schema=False)

Words = Annotated[str, Query(min_length=1, max_length=64)]


@router.get("")
async def show_routing(request: Request, _reader: Reader, routing: Routing) -> Response:
    """The fleet's tables in numbers, by origin, and what is wrong with them."""
    return render(
        request,
        "routing/routing.html",
        fleet=await routing.fleet(),
        origins=await routing.origins(),
        invalid=await routing.invalid(),
    )


@router.get("/search")
async def search_routing(_reader: Reader, routing: Routing, q: Words) -> Response:
    """Go to the origin or the prefix that is meant."""
    return RedirectResponse(await routing.place_of(q), status_code=303)


@router.get("/prefix")
async def show_prefix(request: Request, _reader: Reader, routing: Routing, prefix: Words) -> Response:
    """One prefix on every node, around it, and what became of it."""
    return render(request, "routing/prefix.html", found=await routing.prefix(prefix))


@router.get("/origins/{asn}")
async def show_origin(
    request: Request, _reader: Reader, routing: Routing, asn: Annotated[int, Path(ge=0, lt=2**32)]
) -> Response:
    """One origin with its prefixes."""
    return render(request, "routing/origin.html", origin=await routing.origin(asn))
