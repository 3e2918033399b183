"""JSON routes and the event stream of probes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response, status
from sse_starlette import ServerSentEvent

from control_server.probes.dependencies import FleetReader, Following, ProbeRunner, Probes, Reader, Viewer
from control_server.probes.rules import event_id
from control_server.probes.schemas import ProbeCreate, ProbeFilter, ProbePage, ProbeRead, ProbeStarted
from control_server.probes.service import ProbeReader
from shared.web.routing import Router
from shared.web.streams import sse, stream_events

router = Router(prefix="/api/v1/probes", tags=["probes"])


@router.post("", status_code=status.HTTP_202_ACCEPTED)
async def create_probe(wanted: ProbeCreate, caller: ProbeRunner, probes: Probes) -> ProbeStarted:
    """Run a tool on one or more nodes; follow it by `stream`."""
    return await probes.create(caller, wanted)


@router.get("")
async def list_probes(
    _reader: FleetReader,
    probes: Probes,
    wanted: Annotated[ProbeFilter, Query()],
    cursor: Annotated[str | None, Query(max_length=256)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ProbePage:
    """Probes, newest first."""
    return await probes.list_page(wanted, cursor, limit)


@router.get("/{probe_id}")
async def get_probe(probe_id: UUID, _reader: FleetReader, probes: Reader) -> ProbeRead:
    """State, who, when, every line, and the result of each node."""
    return await probes.read(probe_id)


@router.post("/{probe_id}/cancel", status_code=status.HTTP_202_ACCEPTED)
async def cancel_probe(probe_id: UUID, caller: ProbeRunner, probes: Probes) -> ProbeStarted:
    """Ask the nodes to stop. What they printed until then is kept."""
    return await probes.cancel(caller, probe_id)


@router.get("/{probe_id}/stream", response_class=Response)
async def stream_probe(probe_id: UUID, request: Request, viewer: Following, probes: Reader) -> Response:
    """Server-sent events `state`, `output`, `gap` and `done`; 204 after the reader has had `done`."""
    if viewer.finished:
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    return stream_events(request, _events(probe_id, viewer, probes))


async def _events(probe_id: UUID, viewer: Viewer, probes: ProbeReader) -> AsyncIterator[ServerSentEvent]:
    epoch = ""
    async for event in probes.follow(probe_id, viewer.position, viewer.live):
        epoch = event.data.get("epoch", epoch)
        ident = event_id(epoch, event.seq) if event.seq is not None else None
        yield sse(event.name, event.data, ident=ident)
