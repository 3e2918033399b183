"""The agents' link: who may connect, what their frames do, and who is heard."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from control_server.agents.errors import AgentTokenRefused
from control_server.agents.models import Agent, AgentToken
from control_server.agents.repository import AgentRepository
from control_server.agents.rules import Liveness, liveness
from control_server.agents.store import Connection, Connections, LostListener, Presence
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.secrets import digest_of, identify, mint
from shared.protocol.frames import AgentHello, CloseCode, Frame, Goodbye, Heartbeat

log = structlog.get_logger(__name__)

#: Sockets are closed by force after it; an agent that has not taken its goodbye by then misses it.
_FAREWELL_SECONDS = 1

#: Acts on one frame of one connection. A refusal is answered with an `error` frame.
FrameHandler = Callable[[Connection, Any], Awaitable[None]]


@dataclass(slots=True)
class Switchboard:
    """What other features do with frames and lost connections; filled in by the application."""

    handlers: dict[type[Frame], FrameHandler] = field(default_factory=dict)
    when_ready: list[Callable[[Connection], Awaitable[None]]] = field(default_factory=list)
    when_lost: list[LostListener] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AgentLink:
    """Connections of agents to this process."""

    database: Database
    connections: Connections
    presence: Presence
    switchboard: Switchboard
    now: Clock

    async def authenticate(self, authorization: str | None) -> str:
        """The node whose token this is. Raises AgentTokenRefused."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or identify(token.strip(), "rlg") is None:
            raise AgentTokenRefused("Send `Authorization: Bearer` with the agent token of the node.")
        async with self.database.reading() as session:
            found = await AgentRepository(session).find_live_token(digest_of(token.strip()))
        if found is None:
            raise AgentTokenRefused
        return found.node_id

    async def connect(self, node_id: str, hello: AgentHello) -> Connection:
        """Take over the node's link. Raises AgentTokenRefused for a node without an agent."""
        at = self.now()
        async with self.database.transaction() as session:
            fencing_token = await AgentRepository(session).claim_connection(node_id, hello, at)
        if fencing_token is None:
            raise AgentTokenRefused
        connection = Connection(node_id=node_id, fencing_token=fencing_token, connected_at=at)
        self.connections.add(connection)
        self.presence.heard(node_id, at)
        log.info("agent.connected", node=node_id, fencing_token=fencing_token)
        return connection

    async def ready(self, connection: Connection) -> None:
        """The greeting is queued; features may now speak to the agent."""
        for act in self.switchboard.when_ready:
            await act(connection)

    async def receive(self, connection: Connection, frame: Frame) -> None:
        """Act on one frame."""
        beat = frame if isinstance(frame, Heartbeat) else None
        self.presence.heard(connection.node_id, self.now(), beat)
        handler = self.switchboard.handlers.get(type(frame))
        if handler is not None:
            await handler(connection, frame)

    async def disconnect(self, connection: Connection) -> None:
        """The socket has ended. Only the node's newest one makes the node disconnected."""
        if not self.connections.remove(connection):
            return
        async with self.database.transaction() as session:
            current = await AgentRepository(session).note_disconnected(
                connection.node_id, connection.fencing_token, self.now()
            )
        log.info("agent.disconnected", node=connection.node_id, newest=current)
        if current:
            for act in self.switchboard.when_lost:
                await act(connection.node_id, connection.fencing_token)

    def drop(self, node_id: str, reason: str) -> None:
        """End the node's connection because its token is no longer good."""
        connection = self.connections.find(node_id)
        if connection is not None:
            connection.close(CloseCode.UNAUTHENTICATED, reason)

    async def farewell(self) -> None:
        """Tell every agent that the server goes away, so that they come back soon and spread out."""
        for connection in self.connections.all():
            connection.send(Goodbye(retry_after_seconds=1))
            connection.close(CloseCode.GOING_AWAY, "The server is going away.")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self.connections.emptied()

    async def write_last_seen(self) -> None:
        """Copy the instants of this process into SQL; run once a minute."""
        instants = self.presence.unwritten()
        if not instants:
            return
        async with self.database.transaction() as session:
            await AgentRepository(session).write_last_seen(instants)
        self.presence.written(instants)

    def liveness_of(self, agent: Agent | None) -> Liveness:
        """Liveness of a node from this process's memory and SQL, whichever is newer."""
        if agent is None:
            return Liveness.UNKNOWN
        beat = self.presence.find(agent.node_id)
        instants = [at for at in (agent.last_seen_at, beat.at if beat else None) if at is not None]
        if agent.disconnected_at is not None and self.connections.find(agent.node_id) is None:
            return liveness(max(instants, default=None), self.now()).without_link()
        return liveness(max(instants, default=None), self.now())

    def connected(self, node_ids: Sequence[str]) -> list[str]:
        """Those of the nodes that can be spoken to now."""
        return [node_id for node_id in node_ids if self.connections.find(node_id) is not None]


@dataclass(frozen=True, slots=True)
class AgentDirectory:
    """Agents and their tokens as one session sees them; other features ask here."""

    agents: AgentRepository
    link: AgentLink

    async def find(self, node_id: str) -> Agent | None:
        """The agent of a node."""
        return await self.agents.find(node_id)

    async def find_by_key(self, public_key: str) -> Agent | None:
        """The agent with this identity key."""
        return await self.agents.find_by_key(public_key)

    async def by_node(self) -> dict[str, Agent]:
        """Every agent by its node."""
        return {agent.node_id: agent for agent in await self.agents.list_all()}

    async def admit(self, agent: Agent) -> str:
        """Store the agent where it is new, and give its node a fresh token in place of any older one."""
        if await self.agents.find(agent.node_id) is None:
            self.agents.add(agent)
        secret = mint("rlg")
        await self.agents.replace_token(
            AgentToken(
                id=secret.id,
                node_id=agent.node_id,
                digest=secret.digest,
                created_at=self.link.now(),
                revoked_at=None,
            )
        )
        return secret.text

    async def dismiss(self, node_id: str) -> None:
        """Forget the node's agent and its tokens, so that another machine may enrol as this node."""
        await self.agents.revoke_tokens(node_id, self.link.now())
        await self.agents.remove(node_id)

    def liveness_of(self, agent: Agent | None) -> Liveness:
        """Liveness of the agent's node."""
        return self.link.liveness_of(agent)

    def heartbeat_of(self, node_id: str) -> Heartbeat | None:
        """The last heartbeat that this process has heard."""
        beat = self.link.presence.find(node_id)
        return beat.heartbeat if beat else None
