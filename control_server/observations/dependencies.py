"""Wiring of observations."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.observations.repository import ObservationRepository
from control_server.observations.service import Listening, Observations
from shared.web.transactions import Session


def observations(session: AsyncSession) -> Observations:
    """Observations in a session that is not the request's own."""
    return Observations(ObservationRepository(session))


async def _observations(session: Session) -> Observations:
    return observations(session)


async def _listening(request: Request) -> Listening:
    resources = request.app.state.resources
    return Listening(resources.database, resources.now, request.app.state.report_observers)


ObservationsOf = Annotated[Observations, Depends(_observations)]
ListeningOf = Annotated[Listening, Depends(_listening)]
