"""What the ROAs of an index would be that nobody reads yet."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from registry_server.objects.schemas import Prefix
from registry_server.roas.repository import RoaRepository
from registry_server.roas.rules.derivation import derive
from registry_server.roas.rules.filters import PATHS, parse_filter
from registry_server.snapshot.schemas.content import Origin


async def authorised(session: Any) -> Mapping[str, frozenset[Hashable]]:
    """The pairs of prefix and origin that have a ROA in the transaction of this session, of each family."""
    repository = RoaRepository(session)
    routes, filters = await repository.list_routes(), await repository.filters()
    return await asyncio.to_thread(_pairs, routes, filters)


def _pairs(
    routes: Sequence[Sequence[Any]], filters: Mapping[str, bytes]
) -> Mapping[str, frozenset[Hashable]]:
    rules = {family: parse_filter(filters.get(path, b""), family)[0] for family, path in PATHS.items()}
    roas, _ = derive((Origin(Prefix(*row[:5]), row[5], row[6], 0) for row in routes), rules)
    return {
        f"IPv{family} ROAs": frozenset((roa.prefix, roa.origin) for roa in roas if roa.family == family)
        for family in PATHS
    }
