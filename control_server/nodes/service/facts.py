"""The facts of nodes: changed one version at a time, and published in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from control_server.audit.service import Audit
from control_server.ipam.schemas import PoolKind
from control_server.ipam.service import Ipam
from control_server.nodes import rules
from control_server.nodes.errors import NodeInUse, NodeNotFound
from control_server.nodes.models import Node
from control_server.nodes.repository import NodeRepository
from control_server.nodes.schemas import (
    Lifecycle,
    Maintenance,
    MaintenanceRead,
    NodeFactsRead,
    NodeUpdate,
    RoutingFacts,
)
from control_server.policy.errors import FactChanged
from control_server.policy.service import Publisher
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal

_POOLED = {
    "loopback4": PoolKind.LOOPBACK4,
    "loopback6": PoolKind.LOOPBACK6,
    "number": PoolKind.NODE_NUMBER,
}


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Facts of nodes as one session writes them."""

    nodes: NodeRepository
    ipam: Ipam
    audit: Audit
    publisher: Publisher
    now: Clock

    async def get(self, node_id: str) -> NodeFactsRead:
        """The facts. Raises NodeNotFound."""
        return read_facts(await self._find(node_id, lock=False))

    async def change(self, actor: Principal, node_id: str, wanted: NodeUpdate, version: int) -> NodeFactsRead:
        """Merge what is named. Raises NodeNotFound, FactChanged, ValueTaken or PoolExhausted."""
        node = await self._find(node_id, lock=True)
        before = read_facts(node)
        if before.version != version:
            raise FactChanged.between(before, wanted)
        changes = wanted.model_dump(mode="json", exclude_unset=True)
        routing = changes.pop("routing", None)
        for name, value in changes.items():
            if value is not None:
                setattr(node, name, value)
        if routing is not None:
            node.routing = await self._routing(node, {**node.routing, **routing})
        node.version += 1
        node.updated_at = self.now()
        after = read_facts(node)
        self._note(actor, "node.changed", before, after)
        await self.publisher.publish(actor, f"facts of {node_id} changed", None)
        return after

    async def begin_maintenance(self, actor: Principal, node_id: str, wanted: Maintenance) -> NodeFactsRead:
        """Drain the node: its neighbours are asked to use other ways. Raises NodeNotFound or InvalidInput."""
        node = await self._find(node_id, lock=True)
        before = read_facts(node)
        rules.check_end(wanted.until, before.maintenance, self.now())
        stands = MaintenanceRead(**wanted.model_dump(), since=self.now(), by=actor.name)
        node.maintenance = stands.model_dump(mode="json")
        said = f": {wanted.reason}" if wanted.reason else ""
        return await self._settle(actor, node, before, ("maintenance.begun", f"maintenance begun{said}"))

    async def end_maintenance(self, actor: Principal, node_id: str) -> NodeFactsRead:
        """Bring the node back; nothing happens when it is back. Raises NodeNotFound."""
        node = await self._find(node_id, lock=True)
        before = read_facts(node)
        if node.maintenance is None:
            await self.publisher.publish(actor, "maintenance ended", set())
            return before
        node.maintenance = None
        return await self._settle(actor, node, before, ("maintenance.ended", "maintenance ended"))

    async def delete(self, actor: Principal, node_id: str, applied: int | None) -> None:
        """Remove a decommissioned node whose agent runs its empty state. Raises NodeNotFound or NodeInUse."""
        node = await self._find(node_id, lock=True)
        rules.check_deletable(node.lifecycle, node.generation, applied)
        await self.ipam.free(_holder(node_id))
        if not await self.nodes.remove(node):
            raise NodeInUse("Delete the node's peerings and links first.")
        self.audit.note(
            actor, "node.deleted", ("node", node_id), before=read_facts(node).model_dump(mode="json")
        )
        await self.publisher.publish(actor, f"{node_id} was deleted", None)

    async def restore(self, node_id: str, facts: NodeFactsRead) -> None:
        """Write earlier facts back; whoever asks for it publishes.

        Raises NodeNotFound, RollbackRefused or ValueTaken.
        """
        node = await self._find(node_id, lock=True)
        rules.check_restorable(node.lifecycle, facts.lifecycle.value)
        node.lifecycle = facts.lifecycle.value
        node.routing = await self._routing(node, facts.routing.model_dump(mode="json"))
        node.version += 1
        node.updated_at = self.now()

    async def fill_in(self, node_id: str) -> None:
        """Give a new node what its facts leave to pools. Raises as `change`."""
        node = await self._find(node_id, lock=True)
        if node.routing:
            node.routing = await self._routing(node, node.routing)

    async def _settle(
        self, actor: Principal, node: Node, before: NodeFactsRead, what: tuple[str, str]
    ) -> NodeFactsRead:
        action, reason = what
        node.version += 1
        node.updated_at = self.now()
        after = read_facts(node)
        self._note(actor, action, before, after)
        await self.publisher.publish(actor, reason, None)
        return after

    async def _routing(self, node: Node, document: dict[str, Any]) -> dict[str, Any]:
        """The document, checked, with every number that is its own registered as such."""
        facts = RoutingFacts.model_validate(document)
        found: dict[str, Any] = {}
        for name, kind in _POOLED.items():
            value = getattr(facts, name)
            if value is None and facts.asn is not None and await self.ipam.offers(kind):
                value = await self.ipam.take(kind, _holder(node.id))
            elif value is not None:
                field = f"routing.{name}"
                await self.ipam.claim(kind, str(value), _holder(node.id), field=field)
            await self.ipam.keep_only(kind, None if value is None else str(value), _holder(node.id))
            found[name] = value
        return RoutingFacts.model_validate({**facts.model_dump(), **found}).model_dump(mode="json")

    async def _find(self, node_id: str, *, lock: bool) -> Node:
        node = await (self.nodes.lock(node_id) if lock else self.nodes.find(node_id))
        if node is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        return node

    def _note(self, actor: Principal, action: str, before: NodeFactsRead, after: NodeFactsRead) -> None:
        old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
        changed = set(_changed(old, new))
        self.audit.note(
            actor,
            action,
            ("node", before.node_id),
            before={name: old[name] for name in changed},
            after={name: new[name] for name in changed},
        )


def read_facts(node: Node) -> NodeFactsRead:
    """A row as operators see it."""
    return NodeFactsRead(
        node_id=node.id,
        version=node.version,
        site=node.site,
        description=node.description,
        labels=node.labels,
        lifecycle=Lifecycle(node.lifecycle),
        maintenance=MaintenanceRead.model_validate(node.maintenance) if node.maintenance else None,
        allow_targets=node.allow_targets,
        deny_targets=node.deny_targets,
        routing=RoutingFacts.model_validate(node.routing),
        generation=node.generation,
    )


def _changed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    yield from (name for name in new if new[name] != old[name] and name != "version")


def _holder(node_id: str) -> str:
    return f"node:{node_id}"
