"""The routers that we manage."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from control_server.agents.models import Agent
from control_server.agents.schemas import LinkTimes
from control_server.agents.service import AgentDirectory
from control_server.audit.service import Audit
from control_server.nodes import rules
from control_server.nodes.errors import NodeExists, NodeNotFound
from control_server.nodes.models import Node
from control_server.nodes.repository import NodeRepository, Outline
from control_server.nodes.schemas import (
    AgentRead,
    GenerationRead,
    HealthRead,
    Listed,
    MaintenanceRead,
    NodeCreate,
    NodeList,
    NodePage,
    NodeQuery,
    NodeRead,
)
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal


class HealthSource(Protocol):
    """Whoever judges nodes by all that is known of them."""

    async def judged(self, node_id: str | None) -> Mapping[str, tuple[str, HealthRead]]:
        """By node, of one or all: the liveness that it was judged by, and the health."""


@dataclass(frozen=True, slots=True)
class NodeService:
    """Nodes as one session sees them, joined with what their agents say."""

    nodes: NodeRepository
    agents: AgentDirectory
    audit: Audit
    now: Clock
    #: None: health is what the link alone says.
    healths: HealthSource | None = None

    async def list(self) -> NodeList:
        """Every node, with its health; to be asked for before anything else of the session, as `shown` is."""
        judged = await self.healths.judged(None) if self.healths else {}
        agents = await self.agents.by_node()
        found = await self.nodes.list_all()
        items = [self._read(node, agents.get(node.id), judged) for node in found]
        return NodeList(items=items, total=len(items))

    async def page(self, wanted: NodeQuery) -> NodePage:
        """A page of the nodes that are wanted; to be asked for before anything else of the session.

        What nodes are found and ordered by is read of all of them, the rest of those that are shown.
        """
        judged = await self.healths.judged(None) if self.healths else {}
        links = await self.agents.times_by_node()
        listed = [self._listed(outline, links, judged) for outline in await self.nodes.list_outlines()]
        having = rules.matching(listed, wanted.words)
        found = [node for node in having if not wanted.state or node.state == wanted.state]
        pages = rules.last_page(len(found))
        page = min(wanted.page, pages)
        start = (page - 1) * rules.PAGE
        shown = [node.node_id for node in rules.ordered(found, wanted.sort)[start : start + rules.PAGE]]
        return NodePage(
            items=await self._those(shown, judged),
            first=start + 1,
            page=page,
            pages=pages,
            found=len(found),
            states=Counter(node.state for node in having),
            total=len(listed),
        )

    async def as_text(self) -> str:
        """A text that differs when pages would show another fleet, save for what every heartbeat changes."""
        links = await self.agents.times_by_node()
        agents = await self.agents.as_text()
        heard = [
            (node_id, self.agents.liveness_of(link).value, self._applied(node_id))
            for node_id, link in sorted(links.items())
        ]
        return f"{await self.nodes.as_text()} {agents} {heard}"

    async def get(self, node_id: str) -> NodeRead:
        """One node, whose health is what the link alone says. Raises NodeNotFound."""
        return await self._found(node_id, {})

    async def shown(self, node_id: str) -> NodeRead:
        """One node, with its health as everything that is known says. Raises NodeNotFound.

        To be asked for before anything else of the session: who judges reads in one of their own, and a
        request that holds one connection while it waits for a second can wait for itself.
        """
        judged = await self.healths.judged(node_id) if self.healths else {}
        return await self._found(node_id, judged)

    async def _found(self, node_id: str, judged: Mapping[str, tuple[str, HealthRead]]) -> NodeRead:
        node = await self.nodes.find(node_id)
        if node is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        return self._read(node, await self.agents.find(node_id), judged)

    async def named(self, node_ids: Sequence[str]) -> Sequence[NodeRead]:
        """Those of the nodes that exist, in this order; their health is what the link alone says."""
        return await self._those(node_ids, {})

    async def find(self, node_id: str) -> Node | None:
        """The facts of a node, for other features."""
        return await self.nodes.find(node_id)

    async def create(self, actor: Principal, wanted: NodeCreate) -> NodeRead:
        """Add a node that has no agent yet. Raises NodeExists."""
        if await self.nodes.find(wanted.node_id) is not None:
            raise NodeExists(f"A node called {wanted.node_id!r} exists already; choose another id.")
        node = await self.ensure(actor, wanted)
        return self._read(node, None, {})

    async def ensure(self, actor: Principal, wanted: NodeCreate) -> Node:
        """The node with this id, added where there is none."""
        found = await self.nodes.find(wanted.node_id)
        if found is not None:
            return found
        at = self.now()
        node = Node(
            id=wanted.node_id,
            site=wanted.site,
            description=wanted.description,
            labels=dict(wanted.labels),
            lifecycle="active",
            allow_targets=[str(network) for network in wanted.allow_targets],
            deny_targets=[str(network) for network in wanted.deny_targets],
            routing=wanted.routing.model_dump(mode="json") if wanted.routing else {},
            created_at=at,
            updated_at=at,
        )
        self.nodes.add(node)
        after = wanted.model_dump(mode="json", exclude_defaults=True)
        self.audit.note(actor, "node.created", ("node", node.id), after=after)
        return node

    async def reset_agent(self, actor: Principal, node_id: str) -> None:
        """Forget the agent's identity, so that another machine may enrol. Raises NodeNotFound."""
        if await self.nodes.find(node_id) is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        await self.agents.dismiss(node_id)
        self.audit.note(actor, "agent.reset", ("node", node_id))

    async def _those(
        self, node_ids: Sequence[str], judged: Mapping[str, tuple[str, HealthRead]]
    ) -> Sequence[NodeRead]:
        """These nodes in this order, save for those that have gone meanwhile."""
        agents = await self.agents.those_of(node_ids)
        found = {node.id: node for node in await self.nodes.list_by_ids(node_ids)}
        return [
            self._read(found[node_id], agents.get(node_id), judged)
            for node_id in node_ids
            if node_id in found
        ]

    def _listed(
        self,
        outline: Outline,
        links: Mapping[str, LinkTimes],
        judged: Mapping[str, tuple[str, HealthRead]],
    ) -> Listed:
        link = links.get(outline.node_id)
        health = self._health(outline.node_id, link, judged)
        return Listed(*outline, state=health.state, seen=self.agents.heard_at(link))

    def _health(
        self, node_id: str, agent: Agent | LinkTimes | None, judged: Mapping[str, tuple[str, HealthRead]]
    ) -> HealthRead:
        liveness = self.agents.liveness_of(agent)
        judged_by, health = judged.get(node_id, (None, None))
        if health is None or judged_by != liveness:
            # What was judged a moment ago by another link is not what is so now.
            return rules.health(liveness, agent.last_seen_at if agent else None)
        return health

    def _applied(self, node_id: str) -> int | None:
        heartbeat = self.agents.heartbeat_of(node_id)
        return heartbeat.applied_generation if heartbeat else None

    def _read(
        self, node: Node, agent: Agent | None, judged: Mapping[str, tuple[str, HealthRead]]
    ) -> NodeRead:
        routing = node.routing
        return NodeRead(
            node_id=node.id,
            site=node.site,
            description=node.description,
            labels=node.labels,
            lifecycle=node.lifecycle,
            asn=routing.get("asn"),
            router_id=routing.get("router_id") or routing.get("loopback4"),
            loopback4=routing.get("loopback4"),
            loopback6=routing.get("loopback6"),
            liveness=self.agents.liveness_of(agent),
            health=self._health(node.id, agent, judged),
            generation=GenerationRead(desired=node.generation or None, applied=self._applied(node.id)),
            maintenance=MaintenanceRead.model_validate(node.maintenance) if node.maintenance else None,
            agent=self._read_agent(agent) if agent else None,
            allow_targets=node.allow_targets,
            deny_targets=node.deny_targets,
            created_at=node.created_at,
        )

    def _read_agent(self, agent: Agent) -> AgentRead:
        beat = self.agents.link.presence.find(agent.node_id)
        heartbeat = beat.heartbeat if beat else None
        return AgentRead(
            version=agent.agent_version,
            hostname=agent.hostname,
            enrolled_at=agent.enrolled_at,
            connected_at=agent.connected_at,
            last_seen_at=self.agents.heard_at(agent),
            tools=agent.capabilities.get("tools", {}),
            load=heartbeat.load if heartbeat else None,
            uptime_seconds=heartbeat.uptime_seconds if heartbeat else None,
            memory_used_bytes=heartbeat.memory_used_bytes if heartbeat else None,
            memory_total_bytes=heartbeat.memory_total_bytes if heartbeat else None,
            key_fingerprint=hashlib.sha256(agent.public_key.encode()).hexdigest(),
        )
