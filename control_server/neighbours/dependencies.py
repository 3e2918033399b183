"""Wiring of what the registry says of other networks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.neighbours.repository import LearnedRepository
from control_server.neighbours.service import LearnedBook, Neighbours
from control_server.neighbours.store import RegistryService
from control_server.resources import ControlResources
from shared.web.transactions import Session


def neighbours(resources: ControlResources) -> Neighbours:
    """Questions to the registry, outside of requests as well."""
    settings = resources.settings
    address = (settings.registry_url or settings.web.public_url).rstrip("/")
    return Neighbours(RegistryService(resources.http, address), resources.database, resources.now)


def learned(session: AsyncSession) -> LearnedBook:
    """Learned route objects in a session that is not the request's own."""
    return LearnedBook(LearnedRepository(session))


async def _neighbours(request: Request) -> Neighbours:
    return neighbours(request.app.state.resources)


async def _learned(session: Session) -> LearnedBook:
    return learned(session)


NeighboursOf = Annotated[Neighbours, Depends(_neighbours)]
LearnedOf = Annotated[LearnedBook, Depends(_learned)]
