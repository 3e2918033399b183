"""What people ask of probes: run one, cancel it, look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from control_server.audit.service import Audit
from control_server.nodes.errors import NodeNotFound
from control_server.nodes.service import NodeService
from control_server.probes import rules
from control_server.probes.errors import (
    CallerBusy,
    NoAgentOnline,
    NodeBusy,
    NotYourProbe,
    ProbeFinished,
    ProbeLimitReached,
    ProbeNotFound,
    TargetBusy,
)
from control_server.probes.models import Probe, ProbeNode
from control_server.probes.repository import ProbeRepository
from control_server.probes.schemas import (
    NodeFacts,
    Outcome,
    ProbeCreate,
    ProbeFilter,
    ProbePage,
    ProbeStarted,
)
from control_server.probes.service.reading import stream_path, summary_of
from control_server.probes.service.runs import ProbeRuns
from shared.database import after_commit
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.ids import new_uuid, short_id
from shared.kernel.principal import Principal
from shared.protocol.probes import ProbeLimits, ProbeReason, ProbeState, TargetRules

_Shares = Sequence[tuple[NodeFacts, Outcome | None]]


@dataclass(frozen=True, slots=True)
class ProbeService:
    """Requests about probes, each in the session of its request."""

    probes: ProbeRepository
    nodes: NodeService
    runs: ProbeRuns
    audit: Audit
    now: Clock

    async def create(self, caller: Principal, wanted: ProbeCreate) -> ProbeStarted:
        """Run a tool on nodes. Nodes that cannot fail at once, unless that leaves none."""
        target = rules.read_target(wanted)
        names = list(dict.fromkeys(wanted.nodes))
        # Before the one lock of all creations: this may ask a tier.
        connected = (await self.runs.link.reach(names[: self.runs.settings.nodes])).nodes
        await self.probes.one_creation_at_a_time()
        await self._check_limits(caller, str(target))
        shares = [
            (facts, rules.obstacle(facts, wanted.tool, target, self.runs.settings.running_per_node))
            for facts in await self._facts(names, connected)
        ]
        _refuse_hopeless(shares)
        probe = self._probe(caller, wanted, str(target), shares)
        rows = [self._share(probe, facts, outcome) for facts, outcome in shares]
        await self.probes.add(probe, rows)
        after = {"tool": probe.tool, "target": probe.target, "nodes": [row.node_id for row in rows]}
        self.audit.note(caller, "probe.created", ("probe", str(probe.id)), after=after)
        running = [row for row in rows if row.state == ProbeState.ACCEPTED]
        if running:
            after_commit(self.probes.session, partial(self.runs.start, probe, running))
        else:
            self.runs.metrics.finished.labels(probe.state, probe.reason or "").inc()
        self.runs.metrics.started.labels(probe.tool).inc()
        return self._started(probe)

    async def cancel(self, caller: Principal, probe_id: UUID) -> ProbeStarted:
        """Ask the agents to stop. Repeating it is no error; a probe that has ended cannot be cancelled."""
        probe = await self.probes.find(probe_id)
        if probe is None:
            raise ProbeNotFound(f"There is no probe {probe_id}.")
        if not rules.may_cancel(caller, probe.actor_id):
            raise NotYourProbe
        if ProbeState(probe.state).final:
            raise ProbeFinished(f"The probe has ended already ({probe.state}).")
        if await self.probes.claim_cancel(probe_id, self.now()):
            self.audit.note(caller, "probe.cancelled", ("probe", str(probe_id)))
            after_commit(self.probes.session, partial(self.runs.cancel, probe_id))
        return self._started(probe)

    async def _check_limits(self, caller: Principal, target: str) -> None:
        settings = self.runs.settings
        mine = rules.running_limit(caller, settings.running_per_user)
        if await self.probes.count_running(actor_id=caller.id) >= mine:
            raise CallerBusy
        if await self.probes.count_running(target=target) >= settings.running_per_target:
            raise TargetBusy
        if await self.probes.count_running() >= settings.running:
            raise ProbeLimitReached

    async def _facts(self, node_ids: Sequence[str], connected: frozenset[str]) -> list[NodeFacts]:
        settings = self.runs.settings
        if len(node_ids) > settings.nodes:
            message = f"A probe runs on at most {settings.nodes} nodes."
            raise InvalidInput(message, fields=[FieldError("nodes", "too_many_nodes", message)])
        known = {node.node_id: node for node in await self.nodes.named(node_ids)}
        unknown = [node_id for node_id in node_ids if node_id not in known]
        if unknown:
            message = f"No node is called {unknown[0]!r}."
            raise InvalidInput(message, fields=[FieldError("nodes", NodeNotFound.code, message)])
        running = await self.probes.count_running_by_node(node_ids)
        extra = TargetRules(allow=settings.allow, deny=settings.deny)
        return [
            NodeFacts(
                node_id=node.node_id,
                connected=node.node_id in connected,
                tools=frozenset(node.agent.tools if node.agent else ()),
                targets=rules.targets_of(settings.targets, extra, (node.allow_targets, node.deny_targets)),
                running=running.get(node.node_id, 0),
            )
            for node in (known[node_id] for node_id in node_ids)
        ]

    def _probe(self, caller: Principal, wanted: ProbeCreate, target: str, shares: _Shares) -> Probe:
        able = sum(1 for _, outcome in shares if outcome is None)
        at = self.now()
        ended = None if able else rules.overall([(o.state, o.reason) for _, o in shares if o is not None])
        return Probe(
            id=new_uuid(),
            epoch=short_id(8),
            state=ended.state if ended else ProbeState.ACCEPTED,
            reason=ended.reason if ended else None,
            tool=wanted.tool,
            target=target,
            options=wanted.options.model_dump(exclude_none=True),
            limits=rules.share_of(self._limits(), able or 1).model_dump(),
            actor_kind=caller.kind,
            actor_id=caller.id,
            actor_name=caller.name,
            created_at=at,
            started_at=None,
            cancelled_at=None,
            finished_at=at if ended else None,
            archived_seq=0,
        )

    def _limits(self) -> ProbeLimits:
        settings = self.runs.settings
        return ProbeLimits(
            seconds=settings.seconds,
            lines=settings.lines,
            line_bytes=settings.line_bytes,
            total_bytes=settings.total_bytes,
        )

    def _share(self, probe: Probe, facts: NodeFacts, outcome: Outcome | None) -> ProbeNode:
        return ProbeNode(
            probe_id=probe.id,
            node_id=facts.node_id,
            state=outcome.state if outcome else ProbeState.ACCEPTED,
            reason=outcome.reason if outcome else None,
            detail=outcome.detail if outcome else "",
            targets=facts.targets.model_dump(mode="json"),
            exit_code=None,
            summary=None,
            started_at=None,
            finished_at=probe.created_at if outcome else None,
        )

    @staticmethod
    def _started(probe: Probe) -> ProbeStarted:
        return ProbeStarted(id=probe.id, state=ProbeState(probe.state), stream=stream_path(probe.id))

    async def list_page(self, wanted: ProbeFilter, cursor: str | None, limit: int) -> ProbePage:
        """One page, newest first. Raises InvalidInput for a cursor that is not ours."""
        start = rules.decode_cursor(cursor) if cursor else None
        found = await self.probes.list_before(wanted, start, limit + 1)
        page = found[:limit]
        shares = await self.probes.list_shares([probe.id for probe in page])
        by_probe: dict[UUID, list[ProbeNode]] = {}
        for share in shares:
            by_probe.setdefault(share.probe_id, []).append(share)
        items = [summary_of(probe, by_probe.get(probe.id, [])) for probe in page]
        more = len(found) > limit
        return ProbePage(
            items=items, next=rules.encode_cursor(page[-1].created_at, page[-1].id) if more else None
        )


def _refuse_hopeless(shares: _Shares) -> None:
    """Refuse the request when every node has the same kind of obstacle that the caller can act on."""
    reasons: set[Any] = {outcome.reason if outcome else None for _, outcome in shares}
    if reasons == {ProbeReason.TARGET_REFUSED}:
        detail = next(outcome.detail for _, outcome in shares if outcome)
        raise InvalidInput(detail, fields=[FieldError("target", "target_refused", detail)])
    if not any(facts.connected for facts, _ in shares):
        raise NoAgentOnline
    if reasons == {ProbeReason.BUSY}:
        raise NodeBusy
