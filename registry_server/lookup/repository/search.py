"""SQL of searches: PostgreSQL has an index of trigrams; on SQLite a narrow table is looked through."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, case, func, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.lookup.rules.searching import Question
from registry_server.lookup.schemas.finding import SearchHit
from registry_server.objects.models import ObjectRow, TextRow

#: Words that are looked for before others; how well a hit fits.
_KEY, _BEGINNING, _PART, _TITLE, _TEXT = range(5)


class Named(NamedTuple):
    """An object, and what it is called."""

    id: int
    object_class: str
    key: str
    folded: str
    title: str


@dataclass(frozen=True, slots=True)
class SearchRepository:
    """Searches inside one snapshot."""

    session: AsyncSession

    async def list_hits(
        self, wanted: Question, after: tuple[int, str, int] | None, limit: int
    ) -> list[tuple[tuple[int, str, int], SearchHit]]:
        """What fits, best first, each with its sort keys."""
        query = self.statement(wanted, after, limit)
        rows = (await self.session.execute(query)).all()
        return [((row[0], row[1], row[2]), _hit(row)) for row in rows]

    async def list_named(self, literal_part: str, classes: Collection[str]) -> list[Named]:
        """Good objects of these classes that have the part in the key or the text, by class and key."""
        columns = (ObjectRow.id, ObjectRow.object_class, ObjectRow.key, ObjectRow.folded, TextRow.title)
        query = (
            select(*columns)
            .join(TextRow, TextRow.object_id == ObjectRow.id)
            .where(ObjectRow.object_class.in_(classes), ObjectRow.indexed, _has(literal_part))
            .order_by(ObjectRow.object_class, ObjectRow.folded)
        )
        rows = await self.session.execute(query)
        return [Named(*row) for row in rows]

    @staticmethod
    def statement(wanted: Question, after: tuple[int, str, int] | None, limit: int) -> Any:
        """The question in SQL."""
        rank = _rank(wanted)
        columns = (ObjectRow.object_class, ObjectRow.key, TextRow.title, ObjectRow.indexed)
        query: Any = (
            select(rank.label("rank"), ObjectRow.folded, ObjectRow.id, *columns)
            .join(TextRow, TextRow.object_id == ObjectRow.id)
            .where(*(_has(word) for word in wanted.words))
            .order_by(rank, ObjectRow.folded, ObjectRow.id)
            .limit(limit)
        )
        if wanted.classes:
            query = query.where(ObjectRow.object_class.in_(wanted.classes))
        if after is not None:
            query = query.where(tuple_(rank, ObjectRow.folded, ObjectRow.id) > tuple_(*map(literal, after)))
        return query


def _has(word: str) -> ColumnElement[bool]:
    return TextRow.body.contains(word, autoescape=True)


def _rank(wanted: Question) -> ColumnElement[int]:
    key = wanted.key
    return case(
        (ObjectRow.folded.in_([key, f"as{key}"] if key.isdigit() else [key]), _KEY),
        (ObjectRow.folded.startswith(key, autoescape=True), _BEGINNING),
        (ObjectRow.folded.contains(key, autoescape=True), _PART),
        (func.lower(TextRow.title).contains(wanted.text, autoescape=True), _TITLE),
        else_=_TEXT,
    )


def _hit(row: Any) -> SearchHit:
    rank, _, _, object_class, key, title, indexed = row
    return SearchHit(object_class=object_class, key=key, title=title, indexed=indexed, rank=rank)
