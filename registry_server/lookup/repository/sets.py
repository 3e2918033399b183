"""SQL of as-sets: one statement walks through all that a set contains, however deep, cycles included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, literal, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from registry_server.objects.models import ObjectRow, ReferenceRow

_AS_SET, _AUT_NUM = "as-set", "aut-num"
#: Bound parameters of one statement.
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class SetRepository:
    """Sets inside one snapshot."""

    session: AsyncSession

    async def find_name(self, folded: str) -> str | None:
        """The set's key as written."""
        query = select(ObjectRow.key).where(
            ObjectRow.folded == folded, ObjectRow.object_class == _AS_SET, ObjectRow.indexed
        )
        return await self.session.scalar(query.limit(1))

    async def list_reached(self, folded: str) -> dict[str, str]:
        """Folded name and name as written of everything that is in the set or in a set of it."""
        reached = select(literal(folded).label("target")).cte("reached", recursive=True)
        holder = aliased(ObjectRow)
        inside = (
            select(ReferenceRow.target)
            .join(holder, holder.id == ReferenceRow.object_id)
            .join(reached, reached.c.target == holder.folded)
            .where(holder.object_class == _AS_SET, ReferenceRow.attribute == "members")
        )
        reached = reached.union(inside)
        shown = (
            select(ReferenceRow.target, ReferenceRow.shown)
            .join(reached, reached.c.target == ReferenceRow.target)
            .where(ReferenceRow.attribute == "members")
            .order_by(ReferenceRow.object_id, ReferenceRow.position)
        )
        found: dict[str, str] = {}
        for target, written in await self.session.execute(shown):
            found.setdefault(target, written)
        return found

    async def find_sets(self, folded: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """Key and text of those names that are as-sets."""
        found: dict[str, tuple[str, bytes]] = {}
        for start in range(0, len(folded), _CHUNK):
            query = select(ObjectRow.folded, ObjectRow.key, ObjectRow.raw).where(
                ObjectRow.folded.in_(folded[start : start + _CHUNK]),
                ObjectRow.object_class == _AS_SET,
                ObjectRow.indexed,
            )
            found |= {row[0]: (row[1], row[2]) for row in await self.session.execute(query)}
        return found

    async def list_claimants(self, folded: Sequence[str]) -> list[tuple[str, int, str]]:
        """Set, AS number and maintainer of every aut-num that names one of the sets as its own."""
        member, owner = aliased(ReferenceRow), aliased(ReferenceRow)
        found: list[tuple[str, int, str]] = []
        for start in range(0, len(folded), _CHUNK):
            query = (
                select(member.target, ObjectRow.asn, owner.target)
                .join(ObjectRow, ObjectRow.id == member.object_id)
                .join(owner, and_(owner.object_id == member.object_id, owner.attribute == "mnt-by"))
                .where(
                    member.attribute == "member-of",
                    member.target.in_(folded[start : start + _CHUNK]),
                    ObjectRow.object_class == _AUT_NUM,
                    ObjectRow.asn.is_not(None),
                )
            )
            rows = await self.session.execute(query)
            found += [(row[0], row[1] or 0, row[2]) for row in rows]
        return found
