"""SQL of health."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Text, cast, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.health.models import HealthTransition, NodeHealthRow
from control_server.nodes.models import Node

_EMPTY: dict[str, Any] = {"facts": {}, "sessions": [], "stood": {}}


class JudgedBy(NamedTuple):
    """What SQL knows of a node that it is judged by; documents are the texts that they are stored as."""

    node_id: str
    site: str
    desired: int
    changed_at: datetime
    #: Whether it was given a network to route for.
    routes: bool
    maintenance: str | None
    facts: str | None
    stood: str | None


@dataclass(frozen=True, slots=True)
class HealthRepository:
    """Health in one session."""

    session: AsyncSession

    async def hold(self, node_id: str) -> NodeHealthRow:
        """The row of a node, made where there is none, held until the end of the transaction."""
        table = self._insert().values(node_id=node_id, **_EMPTY)
        # An update that changes nothing holds the row as one that changes something does.
        held = table.on_conflict_do_update(
            index_elements=["node_id"], set_={"node_id": table.excluded.node_id}
        )
        found = await self.session.scalars(
            held.returning(NodeHealthRow), execution_options={"populate_existing": True}
        )
        row: NodeHealthRow = found.one()
        return row

    async def hold_stood(self, node_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """How these nodes stood last, their rows held as by `hold`, in the order of their ids."""
        table = self._insert().values([{"node_id": node_id, **_EMPTY} for node_id in sorted(node_ids)])
        held = table.on_conflict_do_update(
            index_elements=["node_id"], set_={"node_id": table.excluded.node_id}
        )
        found = await self.session.execute(held.returning(NodeHealthRow.node_id, NodeHealthRow.stood))
        return {row.node_id: row.stood for row in found}

    async def write_stood(self, stood: Mapping[str, dict[str, Any]]) -> None:
        """Write down how these nodes stand."""
        await self.session.execute(
            update(NodeHealthRow),
            [{"node_id": node_id, "stood": document} for node_id, document in stood.items()],
            execution_options={"synchronize_session": None},
        )

    async def own_asn(self, node_id: str) -> int | None:
        """The AS number that the node routes with."""
        routing = await self.session.scalar(select(Node.routing).where(Node.id == node_id))
        return (routing or {}).get("asn")

    async def list_nodes(self, node_ids: Collection[str] | None) -> Sequence[JudgedBy]:
        """These nodes or all by id, with what is kept of their reports except for each session."""
        query = select(
            Node.id,
            Node.site,
            Node.generation,
            Node.updated_at,
            Node.routing["asn"].as_string().is_not(None),
            cast(Node.maintenance, Text),
            cast(NodeHealthRow.facts, Text),
            cast(NodeHealthRow.stood, Text),
        ).outerjoin(NodeHealthRow, NodeHealthRow.node_id == Node.id)
        if node_ids is not None:
            query = query.where(Node.id.in_(node_ids))
        return [JudgedBy(*row) for row in await self.session.execute(query.order_by(Node.id))]

    async def sessions_of(self, node_id: str) -> list[Any]:
        """Every session of the last snapshot."""
        query = select(NodeHealthRow.sessions).where(NodeHealthRow.node_id == node_id)
        return list(await self.session.scalar(query) or [])

    async def write(self, node_id: str, **values: Any) -> None:
        """Write down facts, sessions, or how the node stood."""
        await self.session.execute(
            update(NodeHealthRow).where(NodeHealthRow.node_id == node_id).values(**values)
        )

    def add(self, change: HealthTransition) -> None:
        """Keep a change."""
        self.session.add(change)

    async def list_changes(self, node_id: str | None, limit: int) -> Sequence[HealthTransition]:
        """The latest first."""
        query = select(HealthTransition)
        if node_id is not None:
            query = query.where(HealthTransition.node_id == node_id)
        order = (HealthTransition.at.desc(), HealthTransition.id.desc())
        return (await self.session.scalars(query.order_by(*order).limit(limit))).all()

    async def remove_before(self, before: datetime) -> None:
        """Forget changes before an instant."""
        await self.session.execute(delete(HealthTransition).where(HealthTransition.at < before))

    async def newest(self) -> str:
        """A text that differs when a change was kept."""
        return str(await self.session.scalar(select(func.max(HealthTransition.id))))

    def _insert(self) -> Any:
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        return dialect.insert(NodeHealthRow)
