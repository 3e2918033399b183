"""What is remembered of nodes, from the tier and from SQL, for those who read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from control_server.flaps.models import FlapBase, FlapMute
from control_server.flaps.repository import FlapMutes, FlapTables
from control_server.flaps.rules import joining, writing
from control_server.flaps.rules.joining import Kept
from control_server.flaps.rules.looks import SessionBase
from control_server.flaps.rules.prefixes import PrefixBase
from control_server.flaps.schemas import Subject, SubjectKind
from control_server.flaps.store import HotState
from shared.cache import TierUnavailable
from shared.database import Database


@dataclass(frozen=True, slots=True)
class Remembered:
    """The states of nodes, what of them is muted, and whether the tier told them."""

    sessions: Mapping[str, SessionBase]
    prefixes: Mapping[str, PrefixBase]
    mutes: Mapping[Subject, FlapMute]
    from_tier: bool
    #: Nothing is missing: there is no tier, or it told all that it knew.
    whole: bool


@dataclass(frozen=True, slots=True)
class FlapStates:
    """Reads both places; of a tier that is away only SQL's part is known."""

    database: Database
    hot: HotState

    async def read(
        self, node_ids: Collection[str] | None, kinds: Collection[SubjectKind], now: datetime
    ) -> Remembered:
        """The states of these nodes or all. Prefixes only of nodes where one still has a score."""
        async with self.database.reading() as session:
            tables = FlapTables(session)
            bases = {kind: await tables.list_bases(kind, node_ids) for kind in kinds}
            of_sessions = bases.get(SubjectKind.SESSION, [])
            of_prefixes = [base for base in bases.get(SubjectKind.PREFIX, []) if _active(base, now)]
            table_sessions = await tables.all_sessions(of_sessions)
            table_prefixes = await tables.all_prefixes(of_prefixes)
            mutes = await FlapMutes(session).list_of(node_ids)
        tier_sessions, one = await self._of_tier(SubjectKind.SESSION, of_sessions)
        tier_prefixes, other = await self._of_tier(SubjectKind.PREFIX, of_prefixes)
        return Remembered(
            sessions=_joined_sessions(tier_sessions, table_sessions, of_sessions),
            prefixes=_joined_prefixes(tier_prefixes, table_prefixes, of_prefixes),
            mutes={(mute.node_id, SubjectKind(mute.kind), mute.subject): mute for mute in mutes},
            from_tier=one and other,
            whole=(one and other) or not self.hot.configured,
        )

    async def _of_tier(self, kind: SubjectKind, bases: Sequence[FlapBase]) -> tuple[dict[str, Any], bool]:
        if not self.hot.configured:
            return {}, False
        try:
            return await self.hot.find_many(kind, [base.node_id for base in bases]), True
        except TierUnavailable:
            return {}, False


def _active(base: FlapBase, now: datetime) -> bool:
    return base.active_until is not None and base.active_until > now


def _kept(base: FlapBase) -> Kept:
    return Kept(base.from_nothing_at.timestamp() if base.from_nothing_at else None)


def _joined_sessions(
    blobs: Mapping[str, Any], tables: Mapping[str, SessionBase], bases: Iterable[FlapBase]
) -> dict[str, SessionBase]:
    found: dict[str, SessionBase] = {}
    for base in bases:
        blob = blobs.get(base.node_id)
        tier = writing.read_sessions(blob) if blob is not None else None
        joined = joining.join_sessions(tier, tables.get(base.node_id), _kept(base))
        if joined is not None:
            found[base.node_id] = joined
    return found


def _joined_prefixes(
    blobs: Mapping[str, Any], tables: Mapping[str, PrefixBase], bases: Iterable[FlapBase]
) -> dict[str, PrefixBase]:
    found: dict[str, PrefixBase] = {}
    for base in bases:
        blob = blobs.get(base.node_id)
        tier = writing.read_prefixes(blob) if blob is not None else None
        joined = joining.join_prefixes(tier, tables.get(base.node_id), _kept(base))
        if joined is not None:
            found[base.node_id] = joined
    return found
