"""Wiring of observations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.nodes.dependencies import AsNamesOf, Nodes
from control_server.nodes.service import NodeService
from control_server.observations.repository import ObservationRepository
from control_server.observations.service import Listening, Observations
from shared.web.transactions import Session


def observations(session: AsyncSession) -> Observations:
    """Observations in a session that is not the request's own."""
    return Observations(ObservationRepository(session))


def _observations(session: Session) -> Observations:
    return observations(session)


def _listening(request: Request) -> Listening:
    resources = request.app.state.resources
    return Listening(resources.database, resources.now, request.app.state.report_observers)


ObservationsOf = Annotated[Observations, Depends(_observations)]
ListeningOf = Annotated[Listening, Depends(_listening)]


@dataclass(frozen=True, slots=True)
class NodeLook:
    """What the page of a node asks."""

    nodes: NodeService
    observations: Observations
    #: The registry's name of an AS, where it has one and answers.
    as_name: Callable[[str], Awaitable[str | None]]


def _look(nodes: Nodes, seen: ObservationsOf, names: AsNamesOf) -> NodeLook:
    return NodeLook(nodes, seen, names.name_of)


Look = Annotated[NodeLook, Depends(_look)]
