"""SQL of workers and results, and of what retention forgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.agents.models import AgentToken
from control_server.enrolment.models import EnrolmentNonce, EnrolmentToken
from control_server.jobs.models import JobResult, JobWorker
from control_server.probes.models import Probe, ProbeLine, ProbeNode


@dataclass(frozen=True, slots=True)
class JobRepository:
    """Workers and results in one session."""

    session: AsyncSession

    async def write_heartbeat(self, worker: dict[str, Any]) -> None:
        """Store the heartbeat of a worker over its last one."""
        await self._replace(JobWorker, "id", worker)

    async def write_result(self, result: dict[str, Any]) -> None:
        """Store the last end of a kind."""
        await self._replace(JobResult, "kind", result)

    async def remove_worker(self, worker_id: str) -> None:
        """A worker has stopped."""
        await self.session.execute(delete(JobWorker).where(JobWorker.id == worker_id))

    async def remove_workers_before(self, instant: datetime) -> None:
        """Forget workers that were not heard since."""
        await self.session.execute(delete(JobWorker).where(JobWorker.seen_at < instant))

    async def list_workers(self) -> Sequence[JobWorker]:
        """Every worker that has not stopped properly, the longest-serving first."""
        return (await self.session.scalars(select(JobWorker).order_by(JobWorker.started_at))).all()

    async def list_results(self) -> dict[str, JobResult]:
        """The last end of each kind."""
        return {row.kind: row for row in (await self.session.scalars(select(JobResult))).all()}

    async def _replace(self, table: type[JobWorker | JobResult], key: str, values: dict[str, Any]) -> None:
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        row = dialect.insert(table).values(**values)
        others = {name: row.excluded[name] for name in values if name != key}
        await self.session.execute(row.on_conflict_do_update(index_elements=[key], set_=others))


@dataclass(frozen=True, slots=True)
class RetentionRepository:
    """What has had its time, in one session."""

    session: AsyncSession

    async def remove_probes(self, finished_before: datetime, limit: int) -> int:
        """Forget so many probes with their lines; how many it was."""
        old = select(Probe.id).where(Probe.finished_at < finished_before).order_by(Probe.finished_at)
        ids = (await self.session.scalars(old.limit(limit))).all()
        for table, column in (
            (ProbeLine, ProbeLine.probe_id),
            (ProbeNode, ProbeNode.probe_id),
            (Probe, Probe.id),
        ):
            await self.session.execute(delete(table).where(column.in_(ids)))
        return len(ids)

    async def remove_spent_tokens(self, before: datetime) -> None:
        """Forget enrolment tokens and challenges that can never be used again, and revoked agent tokens."""
        token = EnrolmentToken
        spent = or_(token.expires_at < before, token.consumed_at < before, token.revoked_at < before)
        await self.session.execute(delete(token).where(spent))
        await self.session.execute(delete(EnrolmentNonce).where(EnrolmentNonce.expires_at < before))
        await self.session.execute(delete(AgentToken).where(AgentToken.revoked_at < before))
