"""SQL of probes. Whatever happens once is one statement that can succeed once."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, insert, literal, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.probes.models import Probe, ProbeLine, ProbeNode
from control_server.probes.schemas import Closed, Ending, Line, ProbeFilter
from shared.protocol.probes import OutputStream, ProbeState

_UNFINISHED = (ProbeState.ACCEPTED, ProbeState.RUNNING)


@dataclass(frozen=True, slots=True)
class ProbeRepository:
    """Probes in one session."""

    session: AsyncSession

    async def one_creation_at_a_time(self) -> None:
        """Count and insert without another creation in between; SQLite has one writer anyway."""
        if self.session.get_bind().dialect.name == "postgresql":
            key = {"key": zlib.crc32(b"routeloom:probes:create")}
            await self.session.execute(text("SELECT pg_advisory_xact_lock(:key)"), key)

    async def count_running(self, *, actor_id: str | None = None, target: str | None = None) -> int:
        """Unfinished probes: of one caller, of one target, or all."""
        query = select(func.count()).select_from(Probe).where(Probe.state.in_(_UNFINISHED))
        if actor_id is not None:
            query = query.where(Probe.actor_id == actor_id)
        if target is not None:
            query = query.where(Probe.target == target)
        return await self.session.scalar(query) or 0

    async def count_running_by_node(self, node_ids: Sequence[str]) -> dict[str, int]:
        """Unfinished shares of each of the nodes."""
        query = (
            select(ProbeNode.node_id, func.count())
            .where(ProbeNode.node_id.in_(node_ids), ProbeNode.state.in_(_UNFINISHED))
            .group_by(ProbeNode.node_id)
        )
        return {row[0]: row[1] for row in await self.session.execute(query)}

    async def add(self, probe: Probe, shares: Sequence[ProbeNode]) -> None:
        """Store a new probe."""
        self.session.add(probe)
        await self.session.flush()
        self.session.add_all(shares)
        await self.session.flush()

    async def find(self, probe_id: UUID) -> Probe | None:
        """The probe with this id, as the database has it now."""
        return await self.session.get(Probe, probe_id, populate_existing=True)

    async def find_share(self, probe_id: UUID, node_id: str) -> tuple[str, str] | None:
        """Tool and state of a node's share."""
        query = (
            select(Probe.tool, ProbeNode.state)
            .join(ProbeNode, ProbeNode.probe_id == Probe.id)
            .where(Probe.id == probe_id, ProbeNode.node_id == node_id)
        )
        row = (await self.session.execute(query)).first()
        return (row[0], row[1]) if row else None

    async def list_shares(self, probe_ids: Sequence[UUID]) -> Sequence[ProbeNode]:
        """The shares of these probes, by node."""
        query = select(ProbeNode).where(ProbeNode.probe_id.in_(probe_ids)).order_by(ProbeNode.node_id)
        return (await self.session.scalars(query)).all()

    async def list_lines(self, probe_id: UUID, after: int = 0) -> list[Line]:
        """The archived lines with a greater number."""
        query = (
            select(ProbeLine)
            .where(ProbeLine.probe_id == probe_id, ProbeLine.seq > after)
            .order_by(ProbeLine.seq)
        )
        rows = await self.session.scalars(query)
        return [Line(row.seq, row.node_id, OutputStream(row.stream), row.text) for row in rows]

    async def list_before(
        self, wanted: ProbeFilter, cursor: tuple[datetime, UUID] | None, limit: int
    ) -> Sequence[Probe]:
        """Newest first, strictly older than the cursor."""
        query = select(Probe).order_by(Probe.created_at.desc(), Probe.id.desc()).limit(limit)
        if cursor is not None:
            query = query.where(tuple_(Probe.created_at, Probe.id) < cursor)
        exact: dict[Any, Any] = {
            Probe.state: wanted.state,
            Probe.tool: wanted.tool,
            Probe.target: wanted.target,
            Probe.actor_id: wanted.by,
        }
        for column, value in exact.items():
            if value:
                query = query.where(column == value)
        if wanted.node:
            shared = select(ProbeNode.probe_id).where(ProbeNode.node_id == wanted.node)
            query = query.where(Probe.id.in_(shared))
        return (await self.session.scalars(query)).all()

    async def list_unfinished(self, node_id: str | None = None) -> list[tuple[Probe, ProbeNode]]:
        """Every unfinished share with its probe, of one node or of all."""
        query = (
            select(Probe, ProbeNode)
            .join(ProbeNode, ProbeNode.probe_id == Probe.id)
            .where(ProbeNode.state.in_(_UNFINISHED))
            .order_by(Probe.created_at, ProbeNode.node_id)
        )
        if node_id is not None:
            query = query.where(ProbeNode.node_id == node_id)
        return [(probe, share) for probe, share in await self.session.execute(query)]

    async def list_endings(self, probe_ids: Sequence[UUID]) -> Sequence[Probe]:
        """Those of the probes that are finished."""
        query = select(Probe).where(Probe.id.in_(probe_ids), Probe.state.not_in(_UNFINISHED))
        return (await self.session.scalars(query)).all()

    async def claim_running(
        self, probe_id: UUID, node_id: str, about: tuple[str, str], at: datetime
    ) -> str | None:
        """Mark a share as running (command, address) once. Answers its state, None where there is none."""
        command, address = about
        share = (ProbeNode.probe_id == probe_id, ProbeNode.node_id == node_id)
        claimed: str | None = await self.session.scalar(
            update(ProbeNode)
            .where(*share, ProbeNode.state == ProbeState.ACCEPTED)
            .values(state=ProbeState.RUNNING, started_at=at, command=command, address=address)
            .returning(ProbeNode.state)
        )
        if claimed is None:
            return await self.session.scalar(select(ProbeNode.state).where(*share))
        await self.session.execute(
            update(Probe)
            .where(Probe.id == probe_id, Probe.state == ProbeState.ACCEPTED)
            .values(state=ProbeState.RUNNING, started_at=at)
        )
        return claimed

    async def claim_cancel(self, probe_id: UUID, at: datetime) -> bool:
        """Mark the probe as to be cancelled, once and only while it runs."""
        claimed = await self.session.scalar(
            update(Probe)
            .where(Probe.id == probe_id, Probe.cancelled_at.is_(None), Probe.state.in_(_UNFINISHED))
            .values(cancelled_at=at)
            .returning(Probe.id)
        )
        return claimed is not None

    async def lock(self, probe_id: UUID) -> None:
        """Let nobody else end shares of this probe meanwhile: two last ones must not miss each other."""
        await self.session.execute(select(Probe.id).where(Probe.id == probe_id).with_for_update())

    async def claim_share_end(self, probe_id: UUID, node_id: str, closed: Closed, at: datetime) -> bool:
        """End a share once; every later caller gets False and changes nothing."""
        outcome = closed.outcome
        claimed = await self.session.scalar(
            update(ProbeNode)
            .where(
                ProbeNode.probe_id == probe_id,
                ProbeNode.node_id == node_id,
                ProbeNode.state.in_(_UNFINISHED),
            )
            .values(
                state=outcome.state,
                reason=outcome.reason,
                detail=outcome.detail,
                exit_code=outcome.exit_code,
                summary=outcome.summary,
                truncated=closed.truncated,
                accepted_lines=_at_least(closed.accepted_lines or 0),
                finished_at=at,
            )
            .returning(ProbeNode.node_id)
        )
        return claimed is not None

    async def claim_end(self, probe_id: UUID, ending: Ending, at: datetime) -> bool:
        """End a probe once."""
        claimed = await self.session.scalar(
            update(Probe)
            .where(Probe.id == probe_id, Probe.state.in_(_UNFINISHED))
            .values(state=ending.state, reason=ending.reason, finished_at=at)
            .returning(Probe.id)
        )
        return claimed is not None

    async def list_outcomes(self, probe_id: UUID) -> list[tuple[str, str | None]]:
        """State and reason of every share, by node."""
        query = select(ProbeNode.state, ProbeNode.reason).where(ProbeNode.probe_id == probe_id)
        return [(state, reason) for state, reason in await self.session.execute(query)]

    async def archive(self, probe_id: UUID, lines: Sequence[Line]) -> None:
        """Store those of the lines that are not stored yet, under the probe's lock."""
        stored = await self.session.scalar(select(Probe.archived_seq).where(Probe.id == probe_id)) or 0
        fresh = [line for line in lines if line.seq > stored]
        if not fresh:
            return
        rows = [
            {"probe_id": probe_id, "seq": i.seq, "node_id": i.node, "stream": i.stream, "text": i.text}
            for i in fresh
        ]
        await self.session.execute(insert(ProbeLine), rows)
        await self.session.execute(
            update(Probe).where(Probe.id == probe_id).values(archived_seq=fresh[-1].seq)
        )
        for node_id, count in Counter(line.node for line in fresh).items():
            total = ProbeNode.archived_lines + count
            await self.session.execute(
                update(ProbeNode)
                .where(ProbeNode.probe_id == probe_id, ProbeNode.node_id == node_id)
                .values(archived_lines=total, accepted_lines=_at_least(total))
            )

    async def set_epoch(self, probe_id: UUID, epoch: str) -> None:
        """Begin a new numbering: readers of the old one must start again."""
        await self.session.execute(update(Probe).where(Probe.id == probe_id).values(epoch=epoch))


def _at_least(count: Any) -> ColumnElement[int]:
    """The accepted lines never become fewer."""
    other = literal(count) if isinstance(count, int) else count
    return case((ProbeNode.accepted_lines > other, ProbeNode.accepted_lines), else_=other)
