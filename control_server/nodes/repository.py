"""SQL of nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.nodes.models import Node
from control_server.tables import Base


class Outline(NamedTuple):
    """What a node is found by."""

    node_id: str
    site: str
    description: str
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class NodeRepository:
    """Nodes in one session."""

    session: AsyncSession

    async def find(self, node_id: str) -> Node | None:
        """The node with this id."""
        return await self.session.get(Node, node_id)

    async def lock(self, node_id: str) -> Node | None:
        """The node, held until the end of the transaction."""
        wanted = select(Node).where(Node.id == node_id).with_for_update()
        return (
            await self.session.scalars(wanted, execution_options={"populate_existing": True})
        ).one_or_none()

    async def lock_all(self, node_ids: Collection[str] | None) -> Sequence[Node]:
        """These nodes or all, held until the end of the transaction; always in the same order."""
        wanted = select(Node).order_by(Node.id).with_for_update()
        if node_ids is not None:
            wanted = wanted.where(Node.id.in_(node_ids))
        return (await self.session.scalars(wanted, execution_options={"populate_existing": True})).all()

    async def remove(self, node: Node) -> bool:
        """Remove the node and what only tells of it; False while facts of others name it."""
        columns = [
            key.parent
            for table in reversed(Base.metadata.sorted_tables)
            for key in table.foreign_keys
            if key.column is Node.__table__.c.id
        ]
        for column in columns:
            if column.table.info.get("outlives_node"):
                named = select(func.count()).select_from(column.table).where(column == node.id)
                if await self.session.scalar(named):
                    return False
        for column in columns:
            await self.session.execute(delete(column.table).where(column == node.id))
        await self.session.delete(node)
        await self.session.flush()
        return True

    async def list_all(self) -> Sequence[Node]:
        """Every node by id."""
        return (await self.session.scalars(select(Node).order_by(Node.id))).all()

    async def list_outlines(self) -> Sequence[Outline]:
        """What every node is found by."""
        wanted = select(Node.id, Node.site, Node.description, Node.labels)
        return [Outline(*row) for row in await self.session.execute(wanted)]

    async def generations(self, node_ids: Collection[str]) -> dict[str, int]:
        """The newest generation of each of these nodes."""
        wanted = select(Node.id, Node.generation).where(Node.id.in_(node_ids))
        return {node_id: newest for node_id, newest in await self.session.execute(wanted)}  # noqa: C416

    async def as_text(self) -> str:
        """A text that differs when facts or a generation of a node do."""
        wanted = select(Node.id, Node.version, Node.generation, Node.updated_at).order_by(Node.id)
        return str((await self.session.execute(wanted)).all())

    async def list_by_ids(self, node_ids: Sequence[str]) -> Sequence[Node]:
        """Those of the nodes that exist, by id."""
        wanted = select(Node).where(Node.id.in_(node_ids)).order_by(Node.id)
        return (await self.session.scalars(wanted)).all()

    def add(self, node: Node) -> None:
        """Store a new node."""
        self.session.add(node)
