"""All nodes at once, for those who derive something from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from control_server.nodes.models import Node
from control_server.nodes.repository import NodeRepository
from control_server.nodes.schemas import NodeFactsRead
from control_server.nodes.service.facts import read_facts


@dataclass(frozen=True, slots=True)
class NodeRegister:
    """Nodes as one session holds them."""

    nodes: NodeRepository

    async def hold(self, node_ids: Collection[str] | None) -> Mapping[str, Node]:
        """These nodes or all, held until the end of the transaction."""
        return {node.id: node for node in await self.nodes.lock_all(node_ids)}

    def facts(self, held: Mapping[str, Node]) -> Mapping[str, NodeFactsRead]:
        """The facts of nodes that are held."""
        return {name: read_facts(node) for name, node in held.items()}
