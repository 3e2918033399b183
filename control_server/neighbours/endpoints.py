"""JSON routes of other networks."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from fastapi import Path, Query

from control_server.neighbours.dependencies import NeighboursOf
from control_server.neighbours.schemas import NeighbourChecks, NeighbourRead
from control_server.policy.dependencies import Reader
from shared.web.routing import Router

router = Router(prefix="/api/v1/neighbours", tags=["peerings"])

Asn = Annotated[int, Path(ge=1, le=4_294_967_295, examples=[4242429901])]


@router.get("/{asn}")
async def get_neighbour(_reader: Reader, asn: Asn, found: NeighboursOf) -> NeighbourRead:
    """What the registry says of an AS number: its name, who holds it, and what it may originate."""
    return await found.describe(asn)


@router.get("/{asn}/prefixes")
async def check_prefixes(
    _reader: Reader,
    asn: Asn,
    found: NeighboursOf,
    prefix: Annotated[list[IPv4Network | IPv6Network], Query(min_length=1, max_length=64)],
) -> NeighbourChecks:
    """Whether the registry lets an AS number originate prefixes, and who maintains them."""
    return await found.check(asn, prefix)
