"""The agents' link: who may connect, what their frames do, and who is heard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from control_server.agents.errors import AgentTokenRefused
from control_server.agents.models import Agent
from control_server.agents.repository import AgentRepository
from control_server.agents.rules import Liveness, liveness
from control_server.agents.store import Connection, Connections, LostListener, Presence
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.secrets import digest_of, identify
from shared.protocol.frames import AgentHello, CloseCode, Frame, Goodbye, Heartbeat

log = structlog.get_logger(__name__)

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
