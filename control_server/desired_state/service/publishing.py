"""Publishing: facts that changed become generations, in the transaction that changed them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog

from control_server.agents.service import AgentDirectory
from control_server.desired_state.repository import GenerationRepository
from control_server.desired_state.rules.differences import differences
from control_server.desired_state.rules.inside import FleetFacts, sources_of
from control_server.desired_state.rules.materialise import materialise
from control_server.desired_state.schemas import Derived, LinkFacts
from control_server.neighbours.service import LearnedBook
from control_server.nodes.models import Node
from control_server.nodes.schemas import NodeFactsRead
from control_server.nodes.service import NodeRegister
from control_server.peerings.schemas import LinkDocument, RecordedPeering
from control_server.peerings.service import PeeringRegister
from control_server.policy.schemas import ChangePreview
from control_server.policy.service import PolicyReader
from shared.database import after_commit
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal
from shared.protocol.desired_state.document import DesiredState

#: Generations that are read, compared and written in one statement each; bounds what is held of them.
_AT_ONCE = 100

log = structlog.get_logger(__name__)

#: Tells a node that a generation waits for it.
Doorbell = Callable[[str, int], Awaitable[None]]
#: Renders and stores what would be published.
ShowPlans = Callable[[Principal, Sequence["Plan"]], Awaitable[ChangePreview]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A generation on its way, beside what is published now."""

    node_id: str
    number: int
    before: DesiredState | None
    after: DesiredState


@dataclass(frozen=True, slots=True)
class FactSources:
    """Where facts come from, all in one session."""

    nodes: NodeRegister
    peerings: PeeringRegister
    policy: PolicyReader
    agents: AgentDirectory
    learned: LearnedBook


@dataclass(slots=True)
class BoundPublisher:
    """A publisher in one session; for a preview it plans and stores nothing."""

    generations: GenerationRepository
    sources: FactSources
    doorbell: Doorbell
    show: ShowPlans
    now: Clock
    only_preview: bool = False
    #: What the person who writes says of it; stands in the generation after what was done.
    note: str = ""
    _plans: list[Plan] = field(default_factory=list)
    _actor: Principal | None = None

    async def publish(self, actor: Principal, reason: str, nodes: Collection[str] | None) -> None:
        """Derive states and store those that differ from what is published. Raises StateInvalid."""
        self._actor = actor
        reason = f"{reason}: {self.note}" if self.note else reason
        facts, held = await self._facts(nodes)
        targets = [node for name, node in held.items() if nodes is None or name in nodes]
        digests = await self.generations.find_digests({n.id: n.generation for n in targets if n.generation})
        changed = [
            (node, found)
            for node in targets
            if (found := materialise(facts, node.id)) is not None and found.sha256 != digests.get(node.id)
        ]
        for start in range(0, len(changed), _AT_ONCE):
            some = changed[start : start + _AT_ONCE]
            before = await self.generations.find_states(
                {node.id: node.generation for node, _ in some if node.generation}
            )
            if self.only_preview:
                self._plans += [_plan(node, found, before.get(node.id)) for node, found in some]
                continue
            kept = {node.id: _kept(facts.nodes[node.id], facts.peerings.get(node.id, ())) for node, _ in some}
            await self._store(some, before, kept, (actor, reason))

    async def preview(self) -> ChangePreview | None:
        """For a preview: undo what was written, and show what would have been published."""
        if not self.only_preview:
            return None
        plans, self._plans = self._plans, []
        await self.generations.undo()
        assert self._actor is not None  # noqa: S101 - publish comes first
        return await self.show(self._actor, plans)

    async def _store(
        self,
        changes: Sequence[tuple[Node, Derived]],
        before: Mapping[str, str],
        kept: Mapping[str, str],
        why: tuple[Principal, str],
    ) -> None:
        actor, reason = why
        generations = []
        for node, found in changes:
            state = found.spelling.decode()
            node.generation += 1
            old = before.get(node.id)
            generations.append(
                {
                    "node_id": node.id,
                    "number": node.generation,
                    "sha256": found.sha256,
                    "state": state,
                    "facts": kept[node.id],
                    "changes": [
                        difference.model_dump(mode="json")
                        for difference in differences(json.loads(old) if old else None, json.loads(state))
                    ],
                    "reason": reason,
                    "actor_kind": actor.kind,
                    "actor_name": actor.name,
                    "created_at": self.now(),
                }
            )
        await self.generations.add_all(generations)
        for node, _ in changes:
            log.info("generation.published", node=node.id, generation=node.generation, reason=reason)
            after_commit(self.generations.session, partial(self.doorbell, node.id, node.generation))

    async def _facts(self, nodes: Collection[str] | None) -> tuple[FleetFacts, Mapping[str, Node]]:
        """What the states of these nodes follow from, and the rows of nodes that it was read of."""
        sources = self.sources
        policy = await sources.policy.get()
        links = [
            LinkFacts(row.node_a, row.node_b, row.enabled, LinkDocument.model_validate(row.document))
            for row in await sources.peerings.links(nodes)
        ]
        wanted = sources_of(nodes, policy, links)
        held = await sources.nodes.hold(wanted)
        facts = FleetFacts(
            policy=policy,
            nodes=sources.nodes.facts(held),
            keys=await sources.agents.keys_by_node(wanted),
            peerings=await sources.peerings.recorded(nodes),
            links=links,
            routes=await sources.learned.routes(),
        )
        return facts, held


def _plan(node: Node, found: Derived, before: str | None) -> Plan:
    old = DesiredState.model_validate_json(before) if before is not None else None
    return Plan(node.id, node.generation + 1, old, found.state)


def _kept(node: NodeFactsRead, rows: Sequence[RecordedPeering]) -> str:
    """The facts of a node as a generation keeps them, as JSON."""
    peerings = ", ".join([row.kept() for row in rows])
    return f'{{"node": {node.model_dump_json()}, "peerings": [{peerings}]}}'
