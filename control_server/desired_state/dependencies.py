"""Wiring of previews."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Path, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.dependencies import Link, directory
from control_server.agents.service import AgentConnection, AgentLink
from control_server.audit.dependencies import audit_service
from control_server.desired_state.repository import GenerationRepository
from control_server.desired_state.service import (
    BoundPublisher,
    Doorbell,
    Generations,
    PlanShow,
    PreviewService,
    Pulling,
    load_published,
)
from control_server.desired_state.service.publishing import FactSources
from control_server.desired_state.store import PreviewStore, PublishedStates
from control_server.ipam.dependencies import ipam
from control_server.neighbours.dependencies import learned
from control_server.nodes.dependencies import Facts, Nodes, newest_generations, node_register, reading_nodes
from control_server.nodes.service import NodeService
from control_server.observations.dependencies import ObservationsOf, observations
from control_server.observations.service import Observations
from control_server.peerings.dependencies import peering_register
from control_server.peerings.service import PeeringRegister
from control_server.policy.dependencies import WritingOf, policy_reader
from control_server.policy.errors import FactsBusy
from control_server.resources import ControlResources
from shared.kernel.gathering import Gathering
from shared.kernel.principal import SYSTEM, Principal, Scope
from shared.protocol.desired_state.document import PublishedState
from shared.protocol.frames import DesiredStateUpdated
from shared.runtime_state import RedisRuntimeClient
from shared.runtime_state.client import get_redis_runtime_client
from shared.web.principals import Require

_State = Annotated[RedisRuntimeClient, Depends(get_redis_runtime_client)]


async def _previews(request: Request, link: Link, state: _State) -> PreviewService:
    resources: ControlResources = request.app.state.resources
    store = PreviewStore(state, resources.settings.runtime_state.preview_ttl)
    return PreviewService(lambda: reading_nodes(resources, link), store, resources.now)


Previews = Annotated[PreviewService, Depends(_previews)]
PreviewWriter = Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]


#: Writers of facts that wait longer for those before them are asked to come again.
_LONGEST_WAIT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Publishing:
    """Makes publishers for sessions; one a process, in the application's state."""

    resources: ControlResources
    link: AgentLink
    ring: Doorbell
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: Agents that have come and are not published for yet.
    _comers: Gathering[None] = field(init=False)

    def __post_init__(self) -> None:
        """Let those who come gather."""
        object.__setattr__(self, "_comers", Gathering(self._republish))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One writer of facts of this process after the other. Raises FactsBusy after a long wait."""
        try:
            async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise FactsBusy from None
        try:
            yield
        finally:
            self._turn.release()

    async def writing(
        self, session: AsyncSession, *, preview: bool = False, note: str = ""
    ) -> BoundPublisher:
        """A publisher in this session, which from now on writes facts alone."""
        await GenerationRepository(session).hold_facts()
        publisher = self.reading(session)
        publisher.only_preview, publisher.note = preview, note
        return publisher

    def reading(self, session: AsyncSession) -> BoundPublisher:
        """A publisher in a session that may write nothing."""
        return BoundPublisher(
            generations=GenerationRepository(session),
            sources=FactSources(
                nodes=node_register(session),
                peerings=self.peerings(session),
                policy=policy_reader(session),
                agents=directory(session, self.link),
                learned=learned(session),
            ),
            doorbell=self.ring,
            show=self._show().show,
            now=self.resources.now,
        )

    def peerings(self, session: AsyncSession) -> PeeringRegister:
        """Peerings and links in this session."""
        now = self.resources.now
        return peering_register(session, ipam(session, audit_service(session, now), now), now)

    def states(self) -> PublishedStates:
        """Generations as agents pull them."""

        async def load(node_id: str, number: int) -> PublishedState:
            async with self.resources.database.reading() as session:
                return await load_published(GenerationRepository(session), node_id, number)

        return PublishedStates(self.resources.cache, load)

    async def republish(self, connection: AgentConnection) -> None:
        """An agent has come, maybe with new keys: what follows from them is published.

        That is its node's own state and those of the nodes at the other ends of its links, whatever the size
        of the fleet. Theirs too when the keys are the ones of before: whoever stored them may have been
        killed ahead of publishing. When many agents come at once, one pass serves all who wait.
        """
        await self._comers.of(connection.node_id)

    async def _republish(self, node_ids: Collection[str]) -> Mapping[str, None]:
        first, *others = sorted(node_ids)
        who = f"the agent of {first} has told its keys"
        if others:
            who = f"the agents of {first} and {len(others)} more have told their keys"
        async with self.resources.database.transaction() as session:
            publisher = await self.writing(session)
            told = await publisher.sources.peerings.linked_with(node_ids)
            await publisher.publish(SYSTEM, who, told)
        return {}

    def _show(self) -> PlanShow:
        @asynccontextmanager
        async def reading() -> AsyncIterator[Observations]:
            async with self.resources.database.reading() as session:
                yield observations(session)

        settings = self.resources.settings.runtime_state
        store = PreviewStore(self.resources.runtime_state, settings.preview_ttl)
        return PlanShow(reading, store, self.resources.now)


def open_publishing(resources: ControlResources, link: AgentLink) -> Publishing:
    """Publishing whose doorbell is the link of the agents."""

    async def ring(node_id: str, generation: int) -> None:
        await link.send(node_id, DesiredStateUpdated(generation=generation))

    return Publishing(resources, link, ring)


async def _generations(
    request: Request, writing: WritingOf, facts: Facts, seen: ObservationsOf
) -> Generations:
    publishing: Publishing = request.app.state.publishing
    rows, peerings = GenerationRepository(writing.session), publishing.peerings(writing.session)
    return Generations(rows, facts, peerings, seen, writing.publisher, writing.audit)


GenerationsOf = Annotated[Generations, Depends(_generations)]


async def _pulling(request: Request) -> Pulling:
    publishing: Publishing = request.app.state.publishing
    return Pulling(newest_generations(publishing.resources), publishing.states())


PullingOf = Annotated[Pulling, Depends(_pulling)]


@dataclass(frozen=True, slots=True)
class GenerationDesk:
    """What the pages of generations ask."""

    nodes: NodeService
    generations: Generations


async def _shelf(nodes: Nodes, generations: GenerationsOf) -> GenerationDesk:
    return GenerationDesk(nodes, generations)


Shelf = Annotated[GenerationDesk, Depends(_shelf)]
Number = Annotated[int, Path(ge=1, le=2_147_483_647)]
