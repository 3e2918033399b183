"""JSON routes of peerings and links."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response, status

from control_server.nodes.schemas import NodeId
from control_server.peerings.dependencies import Introduced, IntroducedFor, LinksOf, PeeringsOf
from control_server.peerings.schemas import (
    LinkCreate,
    LinkList,
    LinkRead,
    LinkUpdate,
    OtherSide,
    PeeringCreate,
    PeeringList,
    PeeringRead,
    PeeringUpdate,
    RowId,
)
from control_server.policy.dependencies import VERSIONED, Reader, ReadVersion, Writer, tag
from control_server.policy.schemas import ChangePreview
from shared.web.routing import Router

peerings = Router(prefix="/api/v1/peerings", tags=["peerings"])
links = Router(prefix="/api/v1/links", tags=["peerings"])

_GONE: dict[int | str, dict[str, Any]] = {204: {"description": "Deleted; 200 answers a preview"}}

OfNode = Annotated[NodeId | None, Query(description="Only those of this node")]


@peerings.get("")
async def list_peerings(_reader: Reader, found: PeeringsOf, node_id: OfNode = None) -> PeeringList:
    """Peerings of a node, or of all."""
    return await found.list(node_id)


@peerings.post("", status_code=status.HTTP_201_CREATED, dependencies=[Introduced])
async def create_peering(
    writer: Writer, wanted: PeeringCreate, found: PeeringsOf, response: Response
) -> PeeringRead | ChangePreview:
    """Add a peering: its tunnel, its session and what is derived from them, in one transaction."""
    made = await found.create(writer, wanted)
    if (preview := await found.publisher.preview()) is not None:
        response.status_code = status.HTTP_200_OK
        return preview
    tag(response, made.version)
    return made


@peerings.get("/{ident}")
async def get_peering(_reader: Reader, ident: RowId, found: PeeringsOf, response: Response) -> PeeringRead:
    """One peering."""
    read = await found.get(ident)
    tag(response, read.version)
    return read


@peerings.get("/{ident}/other-side")
async def get_other_side(_reader: Reader, ident: RowId, found: PeeringsOf) -> OtherSide:
    """The neighbour's WireGuard and BIRD configuration, ready to paste."""
    return await found.other_side(ident)


@peerings.patch("/{ident}", dependencies=[IntroducedFor], responses=VERSIONED)
async def change_peering(
    writer: Writer, ident: RowId, wanted: PeeringUpdate, versions: ReadVersion, found: PeeringsOf
) -> PeeringRead | ChangePreview:
    """Change what is named. A disabled peering is withdrawn at once and keeps its facts."""
    written = await found.change(writer, ident, wanted, versions.read)
    if (preview := await found.publisher.preview()) is not None:
        return preview
    versions.tag(written.version)
    return written


@peerings.delete("/{ident}", response_model=ChangePreview, responses=_GONE)
async def delete_peering(writer: Writer, ident: RowId, found: PeeringsOf) -> ChangePreview | Response:
    """Withdraw the peering and forget it."""
    await found.delete(writer, ident)
    return await found.publisher.preview() or Response(status_code=status.HTTP_204_NO_CONTENT)


@links.get("")
async def list_links(_reader: Reader, found: LinksOf, node_id: OfNode = None) -> LinkList:
    """Links between own nodes."""
    return await found.list(node_id)


@links.post("", status_code=status.HTTP_201_CREATED)
async def create_link(
    writer: Writer, wanted: LinkCreate, found: LinksOf, response: Response
) -> LinkRead | ChangePreview:
    """Join two own nodes by a tunnel, or by an interface that both have."""
    made = await found.create(writer, wanted)
    if (preview := await found.publisher.preview()) is not None:
        response.status_code = status.HTTP_200_OK
        return preview
    tag(response, made.version)
    return made


@links.get("/{ident}")
async def get_link(_reader: Reader, ident: RowId, found: LinksOf, response: Response) -> LinkRead:
    """One link."""
    read = await found.get(ident)
    tag(response, read.version)
    return read


@links.patch("/{ident}", responses=VERSIONED)
async def change_link(
    writer: Writer, ident: RowId, wanted: LinkUpdate, versions: ReadVersion, found: LinksOf
) -> LinkRead | ChangePreview:
    """Change what is named."""
    written = await found.change(writer, ident, wanted, versions.read)
    if (preview := await found.publisher.preview()) is not None:
        return preview
    versions.tag(written.version)
    return written


@links.delete("/{ident}", response_model=ChangePreview, responses=_GONE)
async def delete_link(writer: Writer, ident: RowId, found: LinksOf) -> ChangePreview | Response:
    """Part two nodes."""
    await found.delete(writer, ident)
    return await found.publisher.preview() or Response(status_code=status.HTTP_204_NO_CONTENT)
