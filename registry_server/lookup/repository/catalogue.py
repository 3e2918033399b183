"""SQL of objects as they are listed, shown and linked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Subquery, and_, func, literal, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.lookup.schemas.catalogue import Backlink, ObjectEntry, ProblemRead, ReferenceRead
from registry_server.objects.models import ObjectRow, ProblemRow, ReferenceRow, TextRow
from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.grammar import quote
from registry_server.objects.schemas import SEVERITY_OF, ProblemCode

_DANGLING = ProblemCode.DANGLING_REFERENCE
#: More problems than a file has.
_BEHIND = 1_000_000


class FoundObject(NamedTuple):
    """One object as it is stored."""

    id: int
    path: str
    object_class: str
    key: str
    folded: str
    blob: str
    raw: bytes
    indexed: bool


class ProblemFilter(NamedTuple):
    """Which problems are meant; None leaves a question open."""

    path: str | None = None
    codes: Collection[ProblemCode] | None = None


@dataclass(frozen=True, slots=True)
class CatalogueRepository:
    """Objects inside one snapshot."""

    session: AsyncSession

    async def find(self, object_class: str, key: str) -> FoundObject | None:
        """The object, in any case of its key; a good one before a broken one of the same key."""
        query = (
            _objects()
            .where(ObjectRow.folded == fold(key), ObjectRow.object_class == object_class)
            .order_by(ObjectRow.indexed.desc(), ObjectRow.path)
            .limit(1)
        )
        rows = [FoundObject(*row) for row in (await self.session.execute(query)).all()]
        return rows[0] if rows else None

    async def find_all(self, idents: Sequence[int]) -> dict[int, FoundObject]:
        """Objects by their numbers."""
        rows = await self.session.execute(_objects().where(ObjectRow.id.in_(idents)))
        return {row[0]: FoundObject(*row) for row in rows}

    async def list_keys(self, object_class: str) -> Sequence[str]:
        """Every key of a class."""
        query = select(ObjectRow.key).where(ObjectRow.object_class == object_class, ObjectRow.indexed)
        return (await self.session.scalars(query)).all()

    async def count_class(self, object_class: str) -> int:
        """How many objects of a class there are."""
        query = select(func.count()).where(ObjectRow.object_class == object_class)
        return (await self.session.execute(query)).scalar_one()

    async def list_class(
        self, object_class: str, after: tuple[str, int] | None, limit: int
    ) -> list[tuple[str, int, ObjectEntry]]:
        """Objects of a class by key, each with its sort keys."""
        query = _entries(ObjectRow.folded, ObjectRow.id).where(ObjectRow.object_class == object_class)
        if after is not None:
            query = query.where(tuple_(ObjectRow.folded, ObjectRow.id) > tuple_(*map(literal, after)))
        rows = await self.session.execute(query.order_by(ObjectRow.folded, ObjectRow.id).limit(limit))
        return [(row[0], row[1], _entry(*row[2:])) for row in rows]

    async def list_references(self, ident: int) -> list[ReferenceRead]:
        """What the object names, in the order of its lines, with the class that was found."""
        target = (
            select(func.min(ObjectRow.object_class))
            .where(
                ObjectRow.folded == ReferenceRow.target,
                (" " + ReferenceRow.classes + " ").like("% " + ObjectRow.object_class + " %"),
            )
            .correlate(ReferenceRow)
            .scalar_subquery()
        )
        query = select(ReferenceRow.attribute, target, ReferenceRow.shown, ReferenceRow.line)
        query = query.where(ReferenceRow.object_id == ident).order_by(ReferenceRow.position)
        return [
            ReferenceRead(attribute=attribute, object_class=found, key=shown, line=line)
            for attribute, found, shown, line in await self.session.execute(query)
        ]

    async def count_backlinks(self, found: FoundObject) -> dict[str, int]:
        """How many objects name this one, by attribute."""
        query = select(ReferenceRow.attribute, func.count(ReferenceRow.object_id.distinct()))
        query = query.where(_names(found)).group_by(ReferenceRow.attribute).order_by(ReferenceRow.attribute)
        return {row[0]: row[1] for row in await self.session.execute(query)}

    async def list_backlinks(
        self, found: FoundObject, attribute: str | None, after: tuple[str, int] | None, limit: int
    ) -> list[tuple[str, int, Backlink]]:
        """Objects that name this one, by attribute and key, each with its sort keys."""
        named = select(ReferenceRow.attribute, ReferenceRow.object_id).where(_names(found)).distinct()
        if attribute is not None:
            named = named.where(ReferenceRow.attribute == attribute)
        links = named.subquery()
        query = _entries(links.c.attribute, ObjectRow.id).join(links, links.c.object_id == ObjectRow.id)
        if after is not None:
            query = query.where(tuple_(links.c.attribute, ObjectRow.id) > tuple_(*map(literal, after)))
        rows = await self.session.execute(query.order_by(links.c.attribute, ObjectRow.id).limit(limit))
        return [(row[0], row[1], Backlink(attribute=row[0], **_entry(*row[2:]).model_dump())) for row in rows]

    async def list_naming(
        self, found: FoundObject, classes: Collection[str], limit: int
    ) -> Sequence[FoundObject]:
        """Good objects of these classes that name this one, by class and key."""
        naming = select(ReferenceRow.object_id).where(_names(found))
        query = _objects().where(ObjectRow.id.in_(naming), ObjectRow.object_class.in_(classes))
        query = query.where(ObjectRow.indexed).order_by(ObjectRow.object_class, ObjectRow.folded)
        return [FoundObject(*row) for row in await self.session.execute(query.limit(limit))]

    async def list_problems_of(self, found: FoundObject) -> list[ProblemRead]:
        """What is wrong with one object."""
        return [read for _, read in await self.list_problems(None, 1000, ProblemFilter(found.path))]

    async def list_problems(
        self,
        after: tuple[str, int] | None,
        limit: int,
        wanted: ProblemFilter,
    ) -> list[tuple[tuple[str, int], ProblemRead]]:
        """Problems by path, each with its sort keys; references that lead nowhere are among them."""
        every = _every_problem()
        query = select(every)
        if after is not None:
            query = query.where(tuple_(every.c.path, every.c.position) > tuple_(*map(literal, after)))
        if wanted.path is not None:
            query = query.where(every.c.path == wanted.path)
        if wanted.codes is not None:
            query = query.where(every.c.code.in_([code.value for code in wanted.codes]))
        rows = await self.session.execute(query.order_by(every.c.path, every.c.position).limit(limit))
        return [((row.path, row.position), _problem(row)) for row in rows]


def _names(found: FoundObject) -> ColumnElement[bool]:
    classes = " " + ReferenceRow.classes + " "
    return and_(ReferenceRow.target == found.folded, classes.like(f"% {found.object_class} %"))


def _objects() -> Any:
    return select(
        ObjectRow.id,
        ObjectRow.path,
        ObjectRow.object_class,
        ObjectRow.key,
        ObjectRow.folded,
        ObjectRow.blob,
        ObjectRow.raw,
        ObjectRow.indexed,
    )


def _every_problem() -> Subquery:
    """Those of files, and behind them those of references, which depend on other objects."""
    written = select(
        ProblemRow.path,
        ProblemRow.position,
        ProblemRow.code,
        ProblemRow.line,
        ProblemRow.detail,
        literal("").label("shown"),
    )
    lost = select(
        ObjectRow.path,
        (ReferenceRow.position + _BEHIND).label("position"),
        literal(_DANGLING.value).label("code"),
        ReferenceRow.line,
        ReferenceRow.attribute.label("detail"),
        ReferenceRow.shown,
    ).join(ReferenceRow, ReferenceRow.object_id == ObjectRow.id)
    return union_all(written, lost.where(ReferenceRow.dangling)).subquery()


def _entries(*keys: Any) -> Select[Any]:
    columns: tuple[Any, ...] = (ObjectRow.object_class, ObjectRow.key, TextRow.title, ObjectRow.indexed)
    return select(*keys, *columns).outerjoin(TextRow, TextRow.object_id == ObjectRow.id)


def _entry(object_class: str, key: str, title: str | None, indexed: bool) -> ObjectEntry:
    return ObjectEntry(object_class=object_class, key=key, title=title or "", indexed=indexed)


def _problem(row: Any) -> ProblemRead:
    known, detail = ProblemCode(row.code), row.detail
    if known is _DANGLING:
        detail = f"{detail} names {quote(row.shown)}, which is not in the registry"
    return ProblemRead(path=row.path, code=known, severity=SEVERITY_OF[known], line=row.line, detail=detail)
