"""Reads everything for a snapshot in one transaction, in threads that leave room for others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Dialect, Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.mirror.models import MirrorState
from registry_server.objects.models import FilterRow, ObjectRow, ReferenceRow, RouteRow
from registry_server.objects.rules.loads import without_collection
from registry_server.snapshot.schemas.content import Facts, Rows
from registry_server.tables import Work, carry_out, prepare

Found = Sequence[Sequence[Any]]
#: Gives the first of equal words.
Once = Callable[[str, str], str]
Plain = Callable[[Found, Once], Found]
_OBJECTS = select(
    ObjectRow.id,
    ObjectRow.object_class,
    ObjectRow.key,
    ObjectRow.folded,
    ObjectRow.raw,
    ObjectRow.asn,
    ObjectRow.indexed,
).order_by(ObjectRow.path)
_REFERENCES = select(ReferenceRow.object_id, ReferenceRow.attribute, ReferenceRow.target).order_by(
    ReferenceRow.object_id
)
_ROUTES = select(*RouteRow.__table__.columns)


@dataclass(frozen=True, slots=True)
class SnapshotRepository:
    """The index as one transaction shows it."""

    session: AsyncSession

    async def facts(self) -> Facts:
        """Where the mirror stands."""
        state = MirrorState
        row = await self.session.execute(
            select(state.version, state.commit, state.applied_at, state.checked_at)
        )
        return Facts(*row.one())

    async def rows(self, facts: Facts) -> Rows:
        """All that belongs to these facts of the same transaction."""
        words: dict[str, str] = {}
        with without_collection():
            objects = await self._all(_objects, _OBJECTS, words)
            references = await self._all(_references, _REFERENCES, words)
            routes = await self._all(_routes, _ROUTES, words)
        filters = await self.session.execute(select(FilterRow.path, FilterRow.raw))
        return Rows(facts, objects, references, routes, {row[0]: row[1] for row in filters})

    async def _all(self, plain: Plain, query: Select[*tuple[Any, ...]], words: dict[str, str]) -> Found:
        """Plain tuples, off the event loop; words that stand in many rows stand in memory once."""
        found = await carry_out(self.session, partial(_find, query))
        return await asyncio.to_thread(plain, found, words.setdefault)


def _find(query: Select[*tuple[Any, ...]], dialect: Dialect) -> Work[Found]:
    # As the driver has them: a session takes three times as long, most of it for what nobody asks of a row.
    found: Found = yield prepare(query, dialect).ask()
    return found


def _objects(found: Found, once: Once) -> Found:
    return [
        (ident, once(of, of), once(key, key), once(folded, folded), raw, asn, bool(indexed))
        for ident, of, key, folded, raw, asn, indexed in found
    ]


def _references(found: Found, once: Once) -> Found:
    return [(ident, once(name, name), once(target, target)) for ident, name, target in found]


def _routes(found: Found, once: Once) -> Found:
    return [(*row, once(prefix, prefix), longest) for *row, prefix, longest in found]
