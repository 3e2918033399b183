"""SQL of peerings and links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Text, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.peerings.models import LinkRow, PeeringRow
from control_server.peerings.schemas import RecordedPeering


@dataclass(frozen=True, slots=True)
class PeeringRepository:
    """Peerings and links in one session."""

    session: AsyncSession

    async def find(self, ident: str, *, lock: bool = False) -> PeeringRow | None:
        """The peering, held until the end of the transaction when `lock`."""
        wanted = select(PeeringRow).where(PeeringRow.id == ident)
        return (await self.session.scalars(wanted.with_for_update() if lock else wanted)).one_or_none()

    async def find_by_name(self, node_id: str, name: str) -> PeeringRow | None:
        """The peering of a node by its name."""
        wanted = select(PeeringRow).where(PeeringRow.node_id == node_id, PeeringRow.name == name)
        return (await self.session.scalars(wanted)).one_or_none()

    async def list(self, node_ids: Collection[str] | None = None) -> Sequence[PeeringRow]:
        """Peerings of these nodes, of all with None, by node and name."""
        wanted = select(PeeringRow).order_by(PeeringRow.node_id, PeeringRow.name)
        if node_ids is not None:
            wanted = wanted.where(PeeringRow.node_id.in_(node_ids))
        return (await self.session.scalars(wanted)).all()

    async def list_recorded(self, node_ids: Collection[str] | None) -> Sequence[RecordedPeering]:
        """The same as their rows have them: no objects that could be changed, no document read."""
        wanted = select(
            PeeringRow.node_id,
            PeeringRow.id,
            PeeringRow.name,
            PeeringRow.asn,
            PeeringRow.description,
            PeeringRow.enabled,
            cast(PeeringRow.document, Text),
        ).order_by(PeeringRow.node_id, PeeringRow.name)
        if node_ids is not None:
            wanted = wanted.where(PeeringRow.node_id.in_(node_ids))
        return [RecordedPeering(*row) for row in await self.session.execute(wanted)]

    async def list_of_network(self, asn: int) -> Sequence[PeeringRow]:
        """Peerings with one network, by node."""
        wanted = select(PeeringRow).where(PeeringRow.asn == asn).order_by(PeeringRow.node_id)
        return (await self.session.scalars(wanted)).all()

    async def find_link(self, ident: str, *, lock: bool = False) -> LinkRow | None:
        """The link, held until the end of the transaction when `lock`."""
        wanted = select(LinkRow).where(LinkRow.id == ident)
        return (await self.session.scalars(wanted.with_for_update() if lock else wanted)).one_or_none()

    async def find_link_between(self, node_a: str, node_b: str) -> LinkRow | None:
        """The link of two nodes."""
        wanted = select(LinkRow).where(LinkRow.node_a == node_a, LinkRow.node_b == node_b)
        return (await self.session.scalars(wanted)).one_or_none()

    async def list_links(self, node_ids: Collection[str] | None = None) -> Sequence[LinkRow]:
        """Links that have one of these nodes at an end, or all, by their ends."""
        wanted = select(LinkRow).order_by(LinkRow.node_a, LinkRow.node_b)
        if node_ids is not None:
            wanted = wanted.where(or_(LinkRow.node_a.in_(node_ids), LinkRow.node_b.in_(node_ids)))
        return (await self.session.scalars(wanted)).all()

    def add(self, row: PeeringRow | LinkRow) -> None:
        """Store a new row."""
        self.session.add(row)

    async def remove(self, row: PeeringRow | LinkRow) -> None:
        """Remove a row, now, so that what is derived in this transaction knows it no more."""
        await self.session.delete(row)
        await self.session.flush()
