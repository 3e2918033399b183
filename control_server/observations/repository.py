"""SQL of observations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.observations.models import NodeReport


@dataclass(frozen=True, slots=True)
class ObservationRepository:
    """Reports in one session."""

    session: AsyncSession

    async def find(self, node_id: str) -> NodeReport | None:
        """The reports of a node."""
        return await self.session.get(NodeReport, node_id)

    async def by_node(self, node_ids: Collection[str]) -> Mapping[str, NodeReport]:
        """The reports of these nodes."""
        wanted = select(NodeReport).where(NodeReport.node_id.in_(node_ids))
        return {row.node_id: row for row in await self.session.scalars(wanted)}

    async def writable(self, node_id: str) -> NodeReport:
        """The row of a node, made where there is none, held until the end of the transaction."""
        wanted = select(NodeReport).where(NodeReport.node_id == node_id).with_for_update()
        row = (await self.session.scalars(wanted)).one_or_none()
        if row is None:
            row = NodeReport(node_id=node_id)
            self.session.add(row)
        return row
