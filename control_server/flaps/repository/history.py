"""SQL of what happened to sessions and prefixes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.flaps.models import FlapTransition, PrefixRate
from control_server.flaps.rules.looks import Happening
from control_server.flaps.rules.prefixes import Bucket
from control_server.flaps.schemas import SubjectKind


@dataclass(frozen=True, slots=True)
class FlapHistory:
    """Facts in one session. What is written twice stands there once."""

    session: AsyncSession

    async def add(self, node_id: str, happenings: Iterable[Happening]) -> None:
        """Keep what happened; what is known is known."""
        rows = [_row(node_id, happening) for happening in happenings]
        if rows:
            await self.session.execute(self._insert(FlapTransition).values(rows).on_conflict_do_nothing())

    async def count_rate(self, node_id: str, bucket: Bucket) -> None:
        """Add what one report says to the bucket of its time."""
        at = datetime.fromtimestamp(bucket.at, UTC)
        figures = {
            "seconds": bucket.seconds,
            "updates": bucket.updates,
            "withdrawals": bucket.withdrawals,
            "changes": bucket.changes,
        }
        row = self._insert(PrefixRate).values(node_id=node_id, at=at, **figures)
        sums = {name: getattr(PrefixRate, name) + value for name, value in figures.items()}
        await self.session.execute(row.on_conflict_do_update(index_elements=["node_id", "at"], set_=sums))

    async def list_transitions(
        self, *, node_id: str | None, subject: tuple[SubjectKind, str] | None, limit: int
    ) -> Sequence[FlapTransition]:
        """The latest first."""
        query = select(FlapTransition)
        if node_id is not None:
            query = query.where(FlapTransition.node_id == node_id)
        if subject is not None:
            query = query.where(FlapTransition.kind == subject[0], FlapTransition.subject == subject[1])
        order = (FlapTransition.at.desc(), FlapTransition.id.desc())
        return (await self.session.scalars(query.order_by(*order).limit(limit))).all()

    async def list_before(self, ident: int | None, limit: int) -> Sequence[FlapTransition]:
        """The latest that were noted before this one, the latest first."""
        query = select(FlapTransition).order_by(FlapTransition.id.desc()).limit(limit)
        if ident is not None:
            query = query.where(FlapTransition.id < ident)
        return (await self.session.scalars(query)).all()

    async def charges_of(
        self, subjects: Sequence[tuple[str, str, str]], begin: datetime
    ) -> Sequence[FlapTransition]:
        """What these subjects were charged with since an instant, oldest first."""
        if not subjects:
            return []
        columns = (FlapTransition.node_id, FlapTransition.kind, FlapTransition.subject)
        query = select(FlapTransition).where(
            tuple_(*columns).in_(subjects), FlapTransition.at >= begin, FlapTransition.weight > 0
        )
        return (await self.session.scalars(query.order_by(FlapTransition.at, FlapTransition.id))).all()

    async def count_others(self, node_id: str, name: str, begin: datetime, end: datetime) -> int:
        """Other sessions of a node that moved between two instants."""
        query = select(func.count(FlapTransition.subject.distinct())).where(
            FlapTransition.node_id == node_id,
            FlapTransition.kind == SubjectKind.SESSION,
            FlapTransition.subject != name,
            FlapTransition.at.between(begin, end),
        )
        return await self.session.scalar(query) or 0

    async def count_since(self, begin: datetime) -> int:
        """Everything that happened since an instant."""
        query = select(func.count(FlapTransition.id)).where(FlapTransition.at >= begin)
        return await self.session.scalar(query) or 0

    async def charges_since(self, begin: datetime) -> dict[tuple[str, str, str], int]:
        """How many charged events each subject had; prefixes are counted by what they crossed."""
        columns = (FlapTransition.node_id, FlapTransition.kind, FlapTransition.subject)
        query = (
            select(*columns, func.count(FlapTransition.id))
            .where(FlapTransition.at >= begin, FlapTransition.weight > 0)
            .group_by(*columns)
        )
        return {(node, kind, name): number for node, kind, name, number in await self.session.execute(query)}

    async def rates(self, node_id: str, since: datetime) -> Sequence[PrefixRate]:
        """Buckets of a node, oldest first."""
        query = select(PrefixRate).where(PrefixRate.node_id == node_id, PrefixRate.at >= since)
        return (await self.session.scalars(query.order_by(PrefixRate.at))).all()

    async def remove_transitions(self, before: datetime, at_most: int) -> int:
        """Forget some of what happened before an instant; how many that were."""
        some = select(FlapTransition.id).where(FlapTransition.at < before).limit(at_most)
        gone = await self.session.scalars(
            delete(FlapTransition).where(FlapTransition.id.in_(some)).returning(FlapTransition.id)
        )
        return len(gone.all())

    async def remove_rates(self, before: datetime) -> None:
        """Forget buckets before an instant."""
        await self.session.execute(delete(PrefixRate).where(PrefixRate.at < before))

    async def newest(self) -> str:
        """A text that differs when something has happened."""
        return str(await self.session.scalar(select(func.max(FlapTransition.id))))

    def _insert(self, table: Any) -> Any:
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        return dialect.insert(table)


def _row(node_id: str, happening: Happening) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "kind": happening.kind,
        "subject": happening.subject,
        "key": happening.key,
        "event": happening.event,
        "at": datetime.fromtimestamp(happening.at, UTC),
        "weight": happening.weight,
        "before": round(happening.before, 1),
        "after": round(happening.after, 1),
        "level": happening.level,
        "reason": happening.reason,
        "reason_class": happening.reason_class,
    }
