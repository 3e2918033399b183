"""Wiring of flaps."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.audit.dependencies import AuditTrail
from control_server.flaps.repository import FlapHistory, FlapMutes
from control_server.flaps.service import (
    FlapExport,
    FlapMuting,
    FlapRetention,
    FlapService,
    FlapWatch,
    PrefixFlaps,
    SessionFlaps,
)
from control_server.flaps.service.states import FlapStates
from control_server.flaps.store import HotState
from control_server.incidents.service import IncidentLedger
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require
from shared.web.transactions import Session


def flap_service(resources: ControlResources) -> FlapService:
    """Scores for people."""
    states = FlapStates(resources.database, HotState(resources.kv))
    return FlapService(resources.database, states, resources.now)


def session_flaps(resources: ControlResources) -> SessionFlaps:
    """What charges sessions."""
    return SessionFlaps(resources.database, HotState(resources.kv))


def prefix_flaps(resources: ControlResources) -> PrefixFlaps:
    """What charges prefixes."""
    return PrefixFlaps(resources.database, HotState(resources.kv))


def flap_retention(resources: ControlResources) -> FlapRetention:
    """Forgets what has had its time."""
    return FlapRetention(resources.database, resources.settings.keep.flaps, resources.now)


def watch_of(resources: ControlResources) -> FlapWatch:
    """What closes incidents of scores that have fallen."""
    return FlapWatch(resources.database, flap_service(resources), resources.now)


async def _flaps(request: Request) -> FlapService:
    return flap_service(request.app.state.resources)


Flaps = Annotated[FlapService, Depends(_flaps)]
FlapReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
FlapWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]


async def _exports(flaps: Flaps) -> FlapExport:
    return FlapExport(flaps)


async def _muting(session: Session, flaps: Flaps, audit: AuditTrail) -> FlapMuting:
    return FlapMuting(flaps, FlapMutes(session), IncidentLedger.within(session), audit)


Exports = Annotated[FlapExport, Depends(_exports)]
Muting = Annotated[FlapMuting, Depends(_muting)]


async def flaps_as_text(resources: ControlResources) -> str:
    """A text that differs when something has happened, or a mute began or ended."""
    async with resources.database.reading() as session:
        return f"{await FlapHistory(session).newest()} {await FlapMutes(session).newest()}"
