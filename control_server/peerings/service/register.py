"""All peerings and links at once, for those who derive something from them or go back to earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_server.ipam.schemas import PoolKind
from control_server.ipam.service import Ipam
from control_server.peerings.models import LinkRow, PeeringRow
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.schemas import PeeringDocument, RecordedPeering
from shared.kernel.clock import Clock

#: What of a peering is a fact, and what goes into a generation to be gone back to.
_KEPT = ("id", "name", "asn", "description", "enabled", "document")


@dataclass(frozen=True, slots=True)
class PeeringRegister:
    """Peerings and links as one session sees them."""

    rows: PeeringRepository
    ipam: Ipam
    now: Clock

    async def peerings(self, node_ids: Collection[str] | None) -> Mapping[str, Sequence[PeeringRow]]:
        """Peerings by node, in the order of their names."""
        found: dict[str, list[PeeringRow]] = {}
        for row in await self.rows.list(node_ids):
            found.setdefault(row.node_id, []).append(row)
        return found

    async def recorded(self, node_ids: Collection[str] | None) -> Mapping[str, Sequence[RecordedPeering]]:
        """The same for who only derives something from them."""
        found: dict[str, list[RecordedPeering]] = {}
        for row in await self.rows.list_recorded(node_ids):
            found.setdefault(row.node_id, []).append(row)
        return found

    async def sources(self) -> Mapping[str, set[str]]:
        """Whose route objects filters are made of, each with the nodes that have such a filter."""
        found: dict[str, set[str]] = {}
        for row in await self.rows.list():
            document = PeeringDocument.model_validate(row.document)
            if row.enabled and document.registry_filter is not None:
                found.setdefault(document.registry_filter.source(row.asn), set()).add(row.node_id)
        return found

    async def links(self, node_ids: Collection[str] | None = None) -> Sequence[LinkRow]:
        """Links between own nodes, of these or of all."""
        return await self.rows.list_links(node_ids)

    async def linked_with(self, node_ids: Collection[str]) -> set[str]:
        """These nodes and those at the other ends of their links."""
        ends = {end for row in await self.rows.list_links(node_ids) for end in (row.node_a, row.node_b)}
        return {*node_ids, *ends}

    async def restore(self, node_id: str, kept: Sequence[Mapping[str, Any]]) -> None:
        """Make the peerings of a node those that a generation has kept. Raises ValueTaken."""
        wanted = {entry["id"]: entry for entry in kept}
        present = {row.id: row for row in await self.rows.list([node_id])}
        for ident in present.keys() - wanted.keys():
            await self.ipam.free(f"peering:{ident}")
            await self.rows.remove(present[ident])
        for ident, entry in wanted.items():
            row = present.get(ident)
            if row is None:
                row = PeeringRow(
                    id=ident, node_id=node_id, version=1, created_at=self.now(), updated_at=self.now()
                )
                self.rows.add(row)
            elif all(getattr(row, name) == entry[name] for name in _KEPT):
                continue
            else:
                row.version += 1
            await self._set(row, entry)

    async def _set(self, row: PeeringRow, entry: Mapping[str, Any]) -> None:
        for name in _KEPT:
            setattr(row, name, entry[name])
        row.updated_at = self.now()
        port = entry["document"]["link"].get("listen_port")
        holder = f"peering:{row.id}"
        if port is not None:
            await self.ipam.claim(PoolKind.WIREGUARD_PORT, str(port), holder, scope=row.node_id)
        await self.ipam.keep_only(PoolKind.WIREGUARD_PORT, None if port is None else str(port), holder)
