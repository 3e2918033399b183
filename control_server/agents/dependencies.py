"""Wiring of the agents' link."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.repository import AgentRepository
from control_server.agents.service import AgentDirectory, AgentLink, Switchboard
from control_server.agents.store import Connections, Presence, Roster
from control_server.resources import ControlResources
from shared.kernel.gathering import Gathering
from shared.web.transactions import Session


def open_link(resources: ControlResources, switchboard: Switchboard) -> AgentLink:
    """The link of this process, part of the fleet of all processes."""
    connections, presence = Connections(), Presence()
    roster = Roster(resources.kv, connections, presence, resources.now)
    return AgentLink(
        database=resources.database,
        connections=connections,
        presence=presence,
        switchboard=switchboard,
        now=resources.now,
        roster=roster,
        cache=resources.cache,
        ended=_ended(resources),
        token_life=resources.settings.agent_token_life,
    )


def _ended(resources: ControlResources) -> Gathering[bool]:
    async def note(names: Collection[str]) -> Mapping[str, bool]:
        parts = {name: name.split(" ") for name in names}
        sockets = {name: (node_id, int(token)) for name, (node_id, token) in parts.items()}
        async with resources.database.transaction() as session:
            agents = AgentRepository(session)
            gone = await agents.note_disconnected(sockets.values(), resources.now())
        return {name: socket in gone for name, socket in sockets.items()}

    return Gathering(note)


async def _link(request: Request) -> AgentLink:
    link: AgentLink = request.app.state.agent_link
    return link


Link = Annotated[AgentLink, Depends(_link)]


def directory(session: AsyncSession, link: AgentLink) -> AgentDirectory:
    """The agents as a session that is not the request's own sees them."""
    return AgentDirectory(AgentRepository(session), link)


async def _directory(session: Session, link: Link) -> AgentDirectory:
    return AgentDirectory(AgentRepository(session), link)


Agents = Annotated[AgentDirectory, Depends(_directory)]


async def _agent_node(request: Request, link: Link) -> str:
    return await link.authenticate(request.headers.get("authorization"))


#: The node whose agent token came with the request.
AgentNode = Annotated[str, Depends(_agent_node)]
