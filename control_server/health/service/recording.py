"""Keeps of each report what its node is judged by, and forgets what was judged before it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from control_server.flaps.rules.snapshots import sessions_of, state_of
from control_server.health.repository import HealthRepository
from control_server.health.rules import reports
from control_server.health.schemas import ReportFacts, SessionHealth
from control_server.keys import HEALTH_FLEET, HEALTH_NODE
from control_server.observations.service import Said
from shared.cache import Cache, TierUnavailable
from shared.database import after_commit
from shared.protocol.fleet import ApplyResult, ReconciliationReport, RuntimeSnapshot

#: Longer than any judging that began before a report was stored can take.
_FENCE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class HealthRecorder:
    """Acts on reports inside their transactions. The same report twice is the same facts."""

    cache: Cache

    async def record(self, rows: HealthRepository, said: Said) -> None:
        """Keep what matters of a report."""
        row = await rows.hold(said.node_id)
        facts = ReportFacts.model_validate(row.facts)
        sessions: list[SessionHealth] | None = None
        match said.report:
            case ApplyResult() as result:
                if facts.apply is not None and facts.apply.at > result.finished_at:
                    return
                facts.apply = reports.of_apply(result)
            case ReconciliationReport() as report:
                facts.drift = reports.of_drift(report, facts.drift)
            case RuntimeSnapshot() as snapshot:
                states = [(protocol, state_of(protocol)) for protocol in sessions_of(snapshot)]
                found = reports.sessions_in(snapshot, states, await rows.own_asn(said.node_id))
                facts.routing = reports.of_snapshot(snapshot, found, said.at, facts.routing)
                sessions = found if facts.routing.seen else None
        values: dict[str, object] = {"facts": facts.model_dump(mode="json", exclude_defaults=True)}
        if sessions is not None:
            values["sessions"] = [
                session.model_dump(mode="json", exclude_defaults=True) for session in sessions
            ]
        await rows.write(said.node_id, **values)
        after_commit(rows.session, partial(self.forget, said.node_id))

    async def forget(self, node_id: str) -> None:
        """Let the next reader judge anew, also where a judging is under way."""
        await self.forget_all([node_id])

    async def forget_all(self, node_ids: Sequence[str]) -> None:
        """The same of many nodes."""
        keys = [*(HEALTH_NODE.key(node=node_id) for node_id in node_ids), HEALTH_FLEET.key()]
        with contextlib.suppress(TierUnavailable):
            await asyncio.gather(*(self.cache.invalidate(key, ttl_seconds=_FENCE_SECONDS) for key in keys))
