"""The agents' link: who may connect, what their frames do, and who is heard."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from control_server.agents.errors import AgentTokenRefused
from control_server.agents.models import Agent, AgentToken
from control_server.agents.repository import AgentRepository
from control_server.agents.rules import Liveness, liveness
from control_server.agents.schemas import LinkTimes, Reach
from control_server.agents.store import Connection, Connections, LostListener, Presence, Roster
from control_server.keys import AGENT_TOKEN
from shared.cache import Cache, TierUnavailable
from shared.database import Database, after_commit
from shared.kernel.clock import Clock
from shared.kernel.gathering import Gathering
from shared.kernel.secrets import digest_of, identify, mint
from shared.protocol.base import Frame
from shared.protocol.fleet import NodeKeys
from shared.protocol.frames import (
    AgentHello,
    CloseCode,
    Goodbye,
    Heartbeat,
)

log = structlog.get_logger(__name__)

#: Sockets are closed by force after it; an agent that has not taken its goodbye by then misses it.
_FAREWELL_SECONDS = 1

#: Longer than any look-up of a token that began before its revocation can take.
_TOMBSTONE_SECONDS = 60

#: One agent's socket, as other features are handed it.
AgentConnection = Connection

#: Acts on one frame of one connection. A refusal is answered with an `error` frame.
FrameHandler = Callable[[Connection, Any], Awaitable[None]]


@dataclass(slots=True)
class Switchboard:
    """What other features do with frames and lost connections; filled in by the application."""

    handlers: dict[type[Frame], FrameHandler] = field(default_factory=dict)
    when_ready: list[Callable[[Connection], Awaitable[None]]] = field(default_factory=list)
    when_lost: list[LostListener] = field(default_factory=list)

    def hear(self, kind: type[Frame], act: FrameHandler) -> None:
        """Let one more act on frames of this kind, after those who are there already."""
        before = self.handlers.get(kind)
        if before is None:
            self.handlers[kind] = act
            return

        async def in_turn(connection: Connection, frame: Any) -> None:
            await before(connection, frame)
            await act(connection, frame)

        self.handlers[kind] = in_turn


@dataclass(frozen=True, slots=True)
class AgentLink:
    """Connections of agents to this process."""

    database: Database
    connections: Connections
    presence: Presence
    switchboard: Switchboard
    now: Clock
    roster: Roster
    cache: Cache
    #: Marks nodes as disconnected by `node fencing-token`: when a server stops, all sockets end together.
    ended: Gathering[bool]
    #: How long a token that was looked up is believed without asking SQL; zero asks every time.
    token_life: timedelta = timedelta(seconds=60)

    async def authenticate(self, authorization: str | None) -> str:
        """The node whose token this is. Raises AgentTokenRefused."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or identify(token.strip(), "rlg") is None:
            raise AgentTokenRefused("Send `Authorization: Bearer` with the agent token of the node.")
        digest = digest_of(token.strip())

        async def load() -> str | None:
            async with self.database.reading() as session:
                found = await AgentRepository(session).find_live_token(digest)
            return found.node_id if found else None

        node_id: str | None = await self.cache.get_or_load(
            AGENT_TOKEN.key(digest=digest), load, ttl_seconds=self.token_life.total_seconds()
        )
        if node_id is None:
            raise AgentTokenRefused
        return node_id

    async def forget_tokens(self, digests: Sequence[str]) -> None:
        """Believe revoked tokens no longer, not even where a look-up is under way; for after the commit."""
        for digest in digests:
            with contextlib.suppress(TierUnavailable):
                await self.cache.revoke(AGENT_TOKEN.key(digest=digest), ttl_seconds=_TOMBSTONE_SECONDS)

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
        await self.roster.join(connection, self.ready)
        return connection

    async def ready(self, connection: Connection) -> None:
        """The greeting is queued; features may now speak to the agent."""
        for act in self.switchboard.when_ready:
            await act(connection)

    async def receive(self, connection: Connection, frame: Frame) -> None:
        """Act on one frame."""
        beat = frame if isinstance(frame, Heartbeat) else None
        self.presence.heard(connection.node_id, self.now(), beat)
        if beat is not None and self.roster.kv.configured:
            await self.roster.beat(connection.node_id, connection, beat)
        handler = self.switchboard.handlers.get(type(frame))
        if handler is not None:
            await handler(connection, frame)

    async def disconnect(self, connection: Connection) -> None:
        """The socket has ended. Only the node's newest one makes the node disconnected."""
        newest_here = self.connections.remove(connection)
        await self.roster.leave(connection)
        if not newest_here:
            return
        current = bool(await self.ended.of(f"{connection.node_id} {connection.fencing_token}"))
        log.info("agent.disconnected", node=connection.node_id, newest=current)
        if current:
            for act in self.switchboard.when_lost:
                await act(connection.node_id, connection.fencing_token)

    async def drop(self, node_id: str, reason: str) -> None:
        """End the node's connection, wherever it is, because its token is no longer good."""
        connection = self.connections.find(node_id)
        if connection is not None:
            connection.close(CloseCode.UNAUTHENTICATED, reason)
        await self.roster.drop(node_id, reason)

    async def send(self, node_id: str, frame: Frame) -> bool:
        """Queue a frame for the node's agent, wherever it is connected; False when it is nowhere."""
        return self.connections.send(node_id, frame) or await self.roster.send(node_id, frame)

    async def hear(self, node_id: str, heartbeat: Heartbeat) -> None:
        """A heartbeat that came without a socket."""
        self.presence.heard(node_id, self.now(), heartbeat)
        await self.roster.beat(node_id, None, heartbeat)

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
        now = self.now()
        ages = {node_id: now - at for node_id, at in instants.items()}
        async with self.database.transaction() as session:
            await AgentRepository(session).write_last_seen(ages, now)
        self.presence.written(instants)

    def heard_at(self, agent: Agent | LinkTimes | None) -> datetime | None:
        """When the node was heard last, by this process's memory and SQL, whichever is newer."""
        if agent is None:
            return None
        beat, known = self.presence.find(agent.node_id), agent.last_seen_at
        return known if beat is None or (known is not None and known > beat.at) else beat.at

    def liveness_of(self, agent: Agent | LinkTimes | None) -> Liveness:
        """Liveness of a node by when it was heard last, and by whether it is connected."""
        if agent is None:
            return Liveness.UNKNOWN
        found = liveness(self.heard_at(agent), self.now())
        if agent.disconnected_at is not None and self.connections.find(agent.node_id) is None:
            return found.without_link()
        return found

    async def reach(self, node_ids: Sequence[str]) -> Reach:
        """Those of the nodes that can be spoken to now, through whichever process."""
        return await self.roster.reach(node_ids)


@dataclass(frozen=True, slots=True)
class AgentDirectory:
    """Agents and their tokens as one session sees them; other features ask here."""

    agents: AgentRepository
    link: AgentLink

    async def find(self, node_id: str) -> Agent | None:
        """The agent of a node."""
        await self.link.roster.refresh([node_id])
        return await self.agents.find(node_id)

    async def find_by_key(self, public_key: str) -> Agent | None:
        """The agent with this identity key."""
        return await self.agents.find_by_key(public_key)

    async def by_node(self) -> dict[str, Agent]:
        """Every agent by its node."""
        found = {agent.node_id: agent for agent in await self.agents.list_all()}
        await self.link.roster.refresh(list(found))
        return found

    async def those_of(self, node_ids: Collection[str]) -> dict[str, Agent]:
        """The agents of these nodes, by node, for whoever has asked for the times already."""
        return {agent.node_id: agent for agent in await self.agents.list_by_ids(node_ids)}

    async def as_text(self) -> str:
        """A text that differs when what pages show of an agent does, save for when it was heard."""
        return await self.agents.as_text()

    async def times_by_node(self, node_ids: Collection[str] | None = None) -> dict[str, LinkTimes]:
        """When the agents of these nodes or of all were here: what a whole fleet can be asked for."""
        found = {times.node_id: times for times in await self.agents.list_times(node_ids)}
        await self.link.roster.refresh(list(found))
        return found

    async def keys_of(self, node_id: str) -> NodeKeys | None:
        """Public halves of a node's keys; None before its agent has told them."""
        return (await self.keys_by_node([node_id])).get(node_id)

    async def keys_by_node(self, node_ids: Collection[str] | None = None) -> dict[str, NodeKeys]:
        """The keys of those of the nodes, or of all, that have told them."""
        found = await self.agents.keys_by_node(node_ids)
        return {node: NodeKeys.model_validate(keys) for node, keys in found.items()}

    async def admit(self, agent: Agent) -> str:
        """Store the agent where it is new, and give its node a fresh token in place of any older one."""
        if await self.agents.find(agent.node_id) is None:
            self.agents.add(agent)
        secret = mint("rlg")
        revoked = await self.agents.replace_token(
            AgentToken(
                id=secret.id,
                node_id=agent.node_id,
                digest=secret.digest,
                created_at=self.link.now(),
                revoked_at=None,
            )
        )
        self._forget_after_commit(revoked)
        return secret.text

    async def dismiss(self, node_id: str) -> None:
        """Forget the node's agent and its tokens, so that another machine may enrol as this node."""
        self._forget_after_commit(await self.agents.revoke_tokens(node_id, self.link.now()))
        await self.agents.remove(node_id)

    def _forget_after_commit(self, digests: Sequence[str]) -> None:
        if digests:
            after_commit(self.agents.session, partial(self.link.forget_tokens, digests))

    def liveness_of(self, agent: Agent | LinkTimes | None) -> Liveness:
        """Liveness of the agent's node."""
        return self.link.liveness_of(agent)

    def heard_at(self, agent: Agent | LinkTimes | None) -> datetime | None:
        """When the agent's node was heard last, by whichever process."""
        return self.link.heard_at(agent)

    def heartbeat_of(self, node_id: str) -> Heartbeat | None:
        """The last heartbeat that this process has heard."""
        beat = self.link.presence.find(node_id)
        return beat.heartbeat if beat else None
