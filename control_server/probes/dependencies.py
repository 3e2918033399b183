"""Wiring of probes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Header, Query, Request

from control_server.audit.dependencies import AuditTrail
from control_server.nodes.dependencies import Nodes
from control_server.probes.repository import ProbeRepository
from control_server.probes.rules import parse_position
from control_server.probes.schemas import Position, ProbeFilter
from control_server.probes.service import ProbeReader, ProbeRuns, ProbeService
from control_server.probes.store import Following as Live
from control_server.resources import ControlResources
from shared.cache import TierUnavailable
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session

FleetReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
ProbeRunner = Annotated[Principal, Depends(Require(Scope.PROBES_RUN))]


async def _runs(request: Request) -> ProbeRuns:
    runs: ProbeRuns = request.app.state.probe_runs
    return runs


Runs = Annotated[ProbeRuns, Depends(_runs)]


async def _reader(runs: Runs) -> ProbeReader:
    return runs.reader


Reader = Annotated[ProbeReader, Depends(_reader)]


async def _probes(session: Session, nodes: Nodes, runs: Runs, audit: AuditTrail) -> ProbeService:
    return ProbeService(ProbeRepository(session), nodes, runs, audit, runs.now)


Probes = Annotated[ProbeService, Depends(_probes)]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who follows a probe."""

    position: Position | None
    live: Live | None
    #: They have had the last event and need not come back.
    finished: bool


async def _viewer(
    probe_id: UUID,
    _reader: FleetReader,
    probes: Reader,
    last_event_id: Annotated[str | None, Header(max_length=128)] = None,
    resume: Annotated[
        str | None, Query(alias="last_event_id", max_length=128, description="For clients without the header")
    ] = None,
) -> AsyncIterator[Viewer]:
    """Subscribed from before anything is read until the response has ended, however it ends."""
    position = parse_position(last_event_id or resume)
    finished = await probes.has_seen_everything(probe_id, position)
    async with AsyncExitStack() as stack:
        try:
            live = await stack.enter_async_context(probes.relay.subscribe(probe_id))
        except TierUnavailable:
            live = None  # what is stored is sent, and the reader comes back for more
        yield Viewer(position, live, finished)


Following = Annotated[Viewer, Depends(_viewer, scope="request")]


async def recent_as_text(resources: ControlResources, count: int) -> str:
    """State of the newest probes, to see whether they look different."""
    async with resources.database.reading() as session:
        newest = await ProbeRepository(session).list_before(ProbeFilter(), None, count)
    return " ".join(f"{probe.id}:{probe.state}" for probe in newest)
