"""Reads what ROAs are derived from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from registry_server.objects.models import FilterRow, RouteRow

_ROUTES = select(
    RouteRow.family,
    RouteRow.first,
    RouteRow.last,
    RouteRow.length,
    RouteRow.prefix,
    RouteRow.origin,
    RouteRow.max_length,
)
_FILTERS = select(FilterRow.path, FilterRow.raw)


@dataclass(frozen=True, slots=True)
class RoaRepository:
    """The index inside one transaction."""

    session: AsyncSession

    async def list_routes(self) -> Sequence[Sequence[Any]]:
        """Prefix by its five fields, origin and max-length of every route."""
        return [tuple(row) for row in await self.session.execute(_ROUTES)]

    async def filters(self) -> Mapping[str, bytes]:
        """Path → text of each filter file there is."""
        return {row[0]: row[1] for row in await self.session.execute(_FILTERS)}
