"""Links between nodes of the own network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from control_server.audit.service import Audit
from control_server.ipam.schemas import PoolKind
from control_server.ipam.service import Ipam
from control_server.nodes.errors import NodeNotFound
from control_server.nodes.models import Node
from control_server.nodes.service import NodeService
from control_server.peerings import rules
from control_server.peerings.errors import LinkExists, LinkNotFound
from control_server.peerings.models import LinkRow
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.schemas import LinkCreate, LinkDocument, LinkList, LinkRead, LinkUpdate
from control_server.peerings.service.peerings import ID_LENGTH
from control_server.policy.errors import FactChanged
from control_server.policy.service import Publisher
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal

#: Ports of inside links where there is no pool of them: this and the other node's number.
_PORT_BASE = 51_820
_PORT_SPAN = 10_000


@dataclass(frozen=True, slots=True)
class Links:
    """Links as one session writes them."""

    rows: PeeringRepository
    nodes: NodeService
    ipam: Ipam
    audit: Audit
    publisher: Publisher
    now: Clock

    async def list(self, node_id: str | None = None) -> LinkList:
        """The links of a node, or all."""
        items = [read_link(row) for row in await self.rows.list_links(None if node_id is None else [node_id])]
        return LinkList(items=items, total=len(items))

    async def get(self, ident: str) -> LinkRead:
        """One link. Raises LinkNotFound."""
        return read_link(await self._find(ident, lock=False))

    async def create(self, actor: Principal, wanted: LinkCreate) -> LinkRead:
        """Join two nodes. Raises NodeNotFound, NodeRoutesNothing, LinkExists, InvalidInput or ValueTaken."""
        wanted = _in_order(wanted)
        ends = await self._end(wanted.node_a, "node_a"), await self._end(wanted.node_b, "node_b")
        for end in ends:
            rules.check_routes(end.id, end.routing, end.lifecycle)
        if await self.rows.find_link_between(wanted.node_a, wanted.node_b) is not None:
            raise LinkExists(f"{wanted.node_a} and {wanted.node_b} are linked already.")
        at = self.now()
        document = LinkDocument(**wanted.model_dump(exclude={"node_a", "node_b", "enabled"}))
        row = LinkRow(
            id=short_id(ID_LENGTH),
            node_a=wanted.node_a,
            node_b=wanted.node_b,
            enabled=wanted.enabled,
            document={},
            version=1,
            created_at=at,
            updated_at=at,
        )
        row.document = await self._completed(row, document, ends)
        self.rows.add(row)
        read = read_link(row)
        self.audit.note(actor, "link.created", ("link", row.id), after=_told(read))
        reason = f"{row.node_a} and {row.node_b} were linked"
        await self.publisher.publish(actor, reason, {row.node_a, row.node_b})
        return read

    async def change(self, actor: Principal, ident: str, wanted: LinkUpdate, version: int) -> LinkRead:
        """Change what is named. Raises LinkNotFound, FactChanged, InvalidInput or ValueTaken."""
        row = await self._find(ident, lock=True)
        before = read_link(row)
        if row.version != version:
            raise FactChanged.between(before, wanted)
        ends = await self._end(row.node_a, "node_a"), await self._end(row.node_b, "node_b")
        document = rules.checked(LinkDocument, rules.merged(row.document, wanted.link or {}))
        row.document = await self._completed(row, document, ends)
        if wanted.enabled is not None:
            row.enabled = wanted.enabled
        row.version += 1
        row.updated_at = self.now()
        after = read_link(row)
        self.audit.note(actor, "link.changed", ("link", ident), before=_told(before), after=_told(after))
        reason = f"the link of {row.node_a} and {row.node_b} changed"
        await self.publisher.publish(actor, reason, {row.node_a, row.node_b})
        return after

    async def delete(self, actor: Principal, ident: str) -> None:
        """Part two nodes. Raises LinkNotFound."""
        row = await self._find(ident, lock=True)
        before, ends = _told(read_link(row)), {row.node_a, row.node_b}
        for end in ("a", "b"):
            await self.ipam.free(_holder(ident, end))
        await self.rows.remove(row)
        self.audit.note(actor, "link.deleted", ("link", ident), before=before)
        await self.publisher.publish(actor, f"the link of {' and '.join(sorted(ends))} was deleted", ends)

    async def _completed(
        self, row: LinkRow, document: LinkDocument, ends: tuple[Node, Node]
    ) -> dict[str, Any]:
        wire = document.model_dump(mode="json")
        for end, node, other in (("a", *ends), ("b", *ends[::-1])):
            wire[f"interface_{end}"] = wire[f"interface_{end}"] or rules.interface_of(other.id)
            if document.kind == "wireguard":
                wire[f"port_{end}"] = await self._port(row, end, wire[f"port_{end}"], (node, other))
        return wire

    async def _port(self, row: LinkRow, end: str, wanted: int | None, nodes: tuple[Node, Node]) -> int:
        kind, holder = PoolKind.WIREGUARD_PORT, _holder(row.id, end)
        node, other = nodes
        if wanted is None and await self.ipam.offers(kind):
            return int(await self.ipam.take(kind, holder, scope=node.id))
        port = wanted or _PORT_BASE + int(other.routing.get("number") or 0) % _PORT_SPAN
        await self.ipam.claim(kind, str(port), holder, scope=node.id, field=f"port_{end}")
        await self.ipam.keep_only(kind, str(port), holder)
        return port

    async def _end(self, node_id: str, field: str) -> Node:
        node = await self.nodes.find(node_id)
        if node is None:
            detail = f"No node is called {node_id!r}."
            raise NodeNotFound(detail, fields=[FieldError(field, "node_not_found", detail)])
        return node

    async def _find(self, ident: str, *, lock: bool) -> LinkRow:
        row = await self.rows.find_link(ident, lock=lock)
        if row is None:
            raise LinkNotFound
        return row


def read_link(row: LinkRow) -> LinkRead:
    """A row as operators see it."""
    return LinkRead(
        **LinkDocument.model_validate(row.document).model_dump(),
        id=row.id,
        node_a=row.node_a,
        node_b=row.node_b,
        enabled=row.enabled,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _in_order(wanted: LinkCreate) -> LinkCreate:
    if wanted.node_a == wanted.node_b:
        detail = "A link has two different ends."
        raise InvalidInput(detail, fields=[FieldError("node_b", "same_node", detail)])
    if wanted.node_a < wanted.node_b:
        return wanted
    swapped = {
        "node_a": wanted.node_b,
        "node_b": wanted.node_a,
        "interface_a": wanted.interface_b,
        "interface_b": wanted.interface_a,
        "port_a": wanted.port_b,
        "port_b": wanted.port_a,
    }
    return wanted.model_copy(update=swapped)


def _told(link: LinkRead) -> dict[str, Any]:
    return link.model_dump(mode="json", exclude={"version", "created_at", "updated_at"})


def _holder(ident: str, end: str) -> str:
    return f"link:{ident}:{end}"
