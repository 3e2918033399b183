"""SQL of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.nodes.models import Node


@dataclass(frozen=True, slots=True)
class NodeRepository:
    """Nodes in one session."""

    session: AsyncSession

    async def find(self, node_id: str) -> Node | None:
        """The node with this id."""
        return await self.session.get(Node, node_id)

    async def list_all(self) -> Sequence[Node]:
        """Every node by id."""
        return (await self.session.scalars(select(Node).order_by(Node.id))).all()

    async def list_by_ids(self, node_ids: Sequence[str]) -> Sequence[Node]:
        """Those of the nodes that exist, by id."""
        wanted = select(Node).where(Node.id.in_(node_ids)).order_by(Node.id)
        return (await self.session.scalars(wanted)).all()

    def add(self, node: Node) -> None:
        """Store a new node."""
        self.session.add(node)
