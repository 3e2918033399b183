"""SQL of agents and their tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from typing import cast as cast_type

from sqlalchemy import Interval, Text, bindparam, cast, delete, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.models import Agent, AgentToken
from control_server.agents.schemas import LinkTimes
from shared.database import UtcDateTime
from shared.protocol.frames import AgentHello

if TYPE_CHECKING:
    from sqlalchemy import Table


@dataclass(frozen=True, slots=True)
class AgentRepository:
    """Agents and agent tokens in one session."""

    session: AsyncSession

    async def find(self, node_id: str) -> Agent | None:
        """The agent of a node."""
        return await self.session.get(Agent, node_id)

    async def find_by_key(self, public_key: str) -> Agent | None:
        """The agent with this identity key, whatever its node."""
        return await self.session.scalar(select(Agent).where(Agent.public_key == public_key))

    async def list_all(self) -> Sequence[Agent]:
        """Every agent."""
        return (await self.session.scalars(select(Agent).order_by(Agent.node_id))).all()

    async def list_by_ids(self, node_ids: Collection[str]) -> Sequence[Agent]:
        """The agents of these nodes."""
        return (await self.session.scalars(select(Agent).where(Agent.node_id.in_(node_ids)))).all()

    async def list_times(self, node_ids: Collection[str] | None) -> Sequence[LinkTimes]:
        """When the agents of these nodes or of all were here."""
        wanted = select(Agent.node_id, Agent.connected_at, Agent.disconnected_at, Agent.last_seen_at)
        if node_ids is not None:
            wanted = wanted.where(Agent.node_id.in_(node_ids))
        return [LinkTimes(*row) for row in await self.session.execute(wanted)]

    async def as_text(self) -> str:
        """A text that differs when an agent enrolled, connected, or has another version or other tools."""
        shown = (Agent.node_id, Agent.public_key, Agent.agent_version, Agent.hostname, Agent.connected_at)
        more = (Agent.disconnected_at, cast(Agent.capabilities, Text))
        return str((await self.session.execute(select(*shown, *more).order_by(Agent.node_id))).all())

    def add(self, agent: Agent) -> None:
        """Store a new agent."""
        self.session.add(agent)

    async def remove(self, node_id: str) -> None:
        """Forget the agent of a node."""
        await self.session.execute(delete(Agent).where(Agent.node_id == node_id))

    async def find_live_token(self, digest: str) -> AgentToken | None:
        """The token with this hash, unless it is revoked."""
        wanted = select(AgentToken).where(AgentToken.digest == digest, AgentToken.revoked_at.is_(None))
        return await self.session.scalar(wanted)

    async def replace_token(self, token: AgentToken) -> Sequence[str]:
        """Store a new token of a node and revoke every older one; the digests of those."""
        revoked = await self.revoke_tokens(token.node_id, token.created_at)
        self.session.add(token)
        await self.session.flush()
        return revoked

    async def revoke_tokens(self, node_id: str, at: datetime) -> Sequence[str]:
        """Revoke every token of the node; the digests of those that were good."""
        revoked = await self.session.scalars(
            update(AgentToken)
            .where(AgentToken.node_id == node_id, AgentToken.revoked_at.is_(None))
            .values(revoked_at=at)
            .returning(AgentToken.digest)
        )
        return revoked.all()

    async def claim_connection(self, node_id: str, hello: AgentHello, at: datetime) -> int | None:
        """Count up the node's fencing token for a newly accepted socket; None for an unknown node."""
        instant = self._by_the_shared_clock(at)
        claimed: int | None = await self.session.scalar(
            update(Agent)
            .where(Agent.node_id == node_id)
            .values(
                fencing_token=Agent.fencing_token + 1,
                agent_version=hello.agent_version,
                boot_id=hello.boot_id,
                capabilities=hello.capabilities.model_dump(),
                **({} if hello.keys is None else {"keys": hello.keys.model_dump()}),
                connected_at=instant,
                last_seen_at=instant,
                disconnected_at=None,
            )
            .returning(Agent.fencing_token)
        )
        return claimed

    async def keys_by_node(self, node_ids: Collection[str] | None) -> Mapping[str, dict[str, Any]]:
        """The keys of those of the nodes, or of all, whose agents have told them."""
        wanted = select(Agent.node_id, Agent.keys).where(Agent.keys.is_not(None))
        if node_ids is not None:
            wanted = wanted.where(Agent.node_id.in_(node_ids))
        return {node: keys for node, keys in await self.session.execute(wanted) if keys}

    async def note_disconnected(
        self, sockets: Collection[tuple[str, int]], at: datetime
    ) -> set[tuple[str, int]]:
        """Mark nodes as disconnected whose sockets ended, unless a newer one has been accepted since.

        A socket is its node and its fencing token; those that were the newest are returned. All processes
        take the rows in the same order.
        """
        instant = self._by_the_shared_clock(at)
        newest = (
            select(Agent.node_id, Agent.fencing_token)
            .where(tuple_(Agent.node_id, Agent.fencing_token).in_(sockets))
            .order_by(Agent.node_id)
            .with_for_update()
        )
        gone = {(node_id, token) for node_id, token in await self.session.execute(newest)}
        await self.session.execute(
            update(Agent)
            .where(Agent.node_id.in_([node_id for node_id, _ in gone]))
            .values(disconnected_at=instant, last_seen_at=instant)
            .execution_options(synchronize_session=False)
        )
        return gone

    async def write_last_seen(self, ages: Mapping[str, timedelta], now: datetime) -> None:
        """Move `last_seen_at` forward, never back, by the clock that every process shares.

        All processes take the rows in the same order.
        """
        agents = cast_type("Table", Agent.__table__)
        shared = self._by_the_shared_clock(now)
        by_its_clock = self._has_a_shared_clock
        at = (
            shared - bindparam("age", type_=Interval())
            if by_its_clock
            else bindparam("at", type_=UtcDateTime())
        )
        forward = (agents.c.last_seen_at.is_(None)) | (agents.c.last_seen_at < at)
        moved = update(agents).where(agents.c.node_id == bindparam("node"), forward).values(last_seen_at=at)
        value = "age" if by_its_clock else "at"
        await self.session.execute(
            moved,
            [{"node": node, value: age if by_its_clock else now - age} for node, age in sorted(ages.items())],
        )

    @property
    def _has_a_shared_clock(self) -> bool:
        return self.session.get_bind().dialect.name == "postgresql"

    def _by_the_shared_clock(self, at: datetime) -> Any:
        """The database's own instant; SQLite has none, and one process alone writes to it, by its own."""
        return func.clock_timestamp() if self._has_a_shared_clock else at
