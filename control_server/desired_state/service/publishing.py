"""Publishing: facts that changed become generations, in the transaction that changed them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog

from control_server.agents.service import AgentDirectory
from control_server.desired_state.models import Generation
from control_server.desired_state.repository import GenerationRepository
from control_server.desired_state.rules.differences import differences
from control_server.desired_state.rules.materialise import FleetFacts, materialise
from control_server.desired_state.schemas import LinkFacts, PeeringFacts
from control_server.neighbours.service import LearnedBook
from control_server.nodes.models import Node
from control_server.nodes.schemas import NodeFactsRead
from control_server.nodes.service import NodeRegister
from control_server.peerings.models import PeeringRow
from control_server.peerings.schemas import LinkDocument, PeeringDocument
from control_server.peerings.service import PeeringRegister
from control_server.policy.schemas import ChangePreview
from control_server.policy.service import PolicyReader
from shared.database import after_commit
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal
from shared.protocol.desired_state.document import DesiredState

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
        held = await self.sources.nodes.hold(None)
        rows = await self.sources.peerings.peerings(nodes)
        facts = await self._facts(rows)
        targets = [node for name, node in held.items() if nodes is None or name in nodes]
        digests = await self.generations.find_digests({n.id: n.generation for n in targets if n.generation})
        states = {node.id: state for node in targets if (state := materialise(facts, node.id)) is not None}
        derived = {name: state.digest for name, state in states.items()}
        changed = [n for n in targets if n.id in states and derived[n.id] != digests.get(n.id)]
        newest = await self.generations.find_all({n.id: n.generation for n in changed if n.generation})
        for node in changed:
            before, state = newest.get(node.id), states[node.id]
            if self.only_preview:
                self._plan(node, before, state)
                continue
            kept = self._kept(facts.nodes[node.id], rows.get(node.id, []))
            self._store(node, (actor, reason), (before, state, derived[node.id]), kept)

    async def preview(self) -> ChangePreview | None:
        """For a preview: undo what was written, and show what would have been published."""
        if not self.only_preview:
            return None
        plans, self._plans = self._plans, []
        await self.generations.undo()
        assert self._actor is not None  # noqa: S101 - publish comes first
        return await self.show(self._actor, plans)

    def _plan(self, node: Node, before: Generation | None, state: DesiredState) -> None:
        old = DesiredState.model_validate(before.state) if before is not None else None
        self._plans.append(Plan(node.id, node.generation + 1, old, state))

    def _store(
        self,
        node: Node,
        why: tuple[Principal, str],
        states: tuple[Generation | None, DesiredState, str],
        kept: dict[str, object],
    ) -> None:
        actor, reason = why
        before, state, digest = states
        document = state.model_dump(mode="json")
        node.generation += 1
        self.generations.add(
            Generation(
                node_id=node.id,
                number=node.generation,
                sha256=digest,
                state=document,
                facts=kept,
                changes=[
                    change.model_dump(mode="json")
                    for change in differences(before.state if before else None, document)
                ],
                reason=reason,
                actor_kind=actor.kind,
                actor_name=actor.name,
                created_at=self.now(),
            )
        )
        log.info("generation.published", node=node.id, generation=node.generation, reason=reason)
        after_commit(self.generations.session, partial(self.doorbell, node.id, node.generation))

    def _kept(self, node: NodeFactsRead, rows: Sequence[PeeringRow]) -> dict[str, object]:
        return {"node": node.model_dump(mode="json"), "peerings": self.sources.peerings.kept(rows)}

    async def _facts(self, rows: Mapping[str, Sequence[PeeringRow]]) -> FleetFacts:
        sources = self.sources
        return FleetFacts(
            policy=await sources.policy.get(),
            nodes=await sources.nodes.facts(),
            keys=await sources.agents.keys_by_node(),
            peerings={node: [_peering(row) for row in found] for node, found in rows.items()},
            links=[
                LinkFacts(row.node_a, row.node_b, row.enabled, LinkDocument.model_validate(row.document))
                for row in await sources.peerings.links()
            ],
            routes=await sources.learned.routes(),
        )


def _peering(row: PeeringRow) -> PeeringFacts:
    document = PeeringDocument.model_validate(row.document)
    return PeeringFacts(row.name, row.asn, row.description, row.enabled, document)
