"""SQL of the scores: who may write, and the whole table while the tier does not keep them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.flaps.models import FlapBase, NodeBgpFlap, NodePrefixFlap, NodePrefixFlapPath
from control_server.flaps.rules import writing
from control_server.flaps.rules.joining import Kept
from control_server.flaps.rules.looks import SessionBase
from control_server.flaps.rules.prefixes import PrefixBase, PrefixEntry
from control_server.flaps.rules.score import Score, Tally
from control_server.flaps.schemas import Level, SubjectKind
from control_server.nodes.models import Node

#: Rows of one statement: both databases take a bounded number of values at once.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Holding:
    """Where the scores of a node stand, held until the end of the transaction."""

    node_id: str
    kind: SubjectKind
    fence: int
    reports: int
    counted: int
    in_sql: bool
    kept: Kept
    document: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class FlapTables:
    """The tables in one session."""

    session: AsyncSession

    async def hold(self, node_id: str, kind: SubjectKind, fence: int | None) -> Holding | None:
        """Hold a node's row, made where there is none; None for a connection that was replaced."""
        row = (
            await self.session.execute(
                _holding(self.session.get_bind().dialect.name),
                {
                    "node_id": node_id,
                    "kind": kind,
                    "fencing_token": fence or 0,
                    "reports": 0,
                    "counted": 0,
                    "held_in": "kv",
                },
            )
        ).one()
        if fence is not None and fence < row.fencing_token:
            return None
        if fence is not None and fence > row.fencing_token:
            await self._set(node_id, kind, fencing_token=fence)
        began = row.from_nothing_at.timestamp() if row.from_nothing_at else None
        return Holding(
            node_id=node_id,
            kind=kind,
            fence=max(row.fencing_token, fence or 0),
            reports=row.reports,
            counted=row.counted,
            in_sql=row.held_in == "sql",
            kept=Kept(began),
            document=row.document,
        )

    async def in_maintenance(self, node_id: str) -> bool:
        """Whether the node is out of service by somebody's will."""
        return await self.session.scalar(select(Node.maintenance).where(Node.id == node_id)) is not None

    async def count_report(self, held: Holding) -> int:
        """Give a report its number."""
        await self._set(held.node_id, held.kind, reports=held.reports + 1)
        return held.reports + 1

    async def claim_rate(self, held: Holding, number: int) -> bool:
        """Whether the rate of this report is still to be counted."""
        if number <= held.counted:
            return False
        await self._set(held.node_id, held.kind, counted=number)
        return True

    async def note_active(self, held: Holding, until: float | None) -> None:
        """Until when the node has a score that somebody may want to see."""
        at = None if until is None else datetime.fromtimestamp(until, UTC)
        await self._set(held.node_id, held.kind, active_until=at)

    # --- sessions

    async def read_sessions(self, held: Holding) -> SessionBase | None:
        """What the tables know of a node's sessions; None while the tier keeps it."""
        if not held.in_sql or held.document is None:
            return None
        rows = await self.session.scalars(select(NodeBgpFlap).where(NodeBgpFlap.node_id == held.node_id))
        return writing.read_sessions({**held.document, "s": {row.session: row.entry for row in rows}})

    async def write_sessions(self, held: Holding, base: SessionBase, *, from_nothing: float | None) -> None:
        """Put all of it in the tables, in the place of what was there."""
        blob = writing.write_sessions(base)
        entries = blob.pop("s")
        await self.session.execute(delete(NodeBgpFlap).where(NodeBgpFlap.node_id == held.node_id))
        await self._add_all(
            NodeBgpFlap,
            [
                {
                    "node_id": held.node_id,
                    "session": name,
                    **_scored(base.sessions[name].tally),
                    "entry": entry,
                }
                for name, entry in entries.items()
            ],
        )
        await self._keep(held, blob, from_nothing)

    # --- prefixes

    async def read_prefixes(self, held: Holding) -> PrefixBase | None:
        """What the tables know of a node's prefixes; None while the tier keeps it."""
        if not held.in_sql or held.document is None:
            return None
        rows = await self.session.scalars(
            select(NodePrefixFlap).where(NodePrefixFlap.node_id == held.node_id)
        )
        query = select(NodePrefixFlapPath).where(NodePrefixFlapPath.node_id == held.node_id)
        paths: dict[str, list[str]] = {}
        for path in await self.session.scalars(query.order_by(NodePrefixFlapPath.position)):
            paths.setdefault(path.prefix, []).append(path.path)
        return PrefixBase(
            fence=held.fence,
            recent=tuple(held.document["q"]),
            taken_at=held.document["t"],
            prefixes={row.prefix: _entry(row, paths.get(row.prefix, [])) for row in rows},
        )

    async def write_prefixes(
        self, held: Holding, base: PrefixBase, before: PrefixBase | None, *, from_nothing: float | None
    ) -> None:
        """Put all of it in the tables. `before` stands there, so that only the difference is written."""
        known = before.prefixes if before is not None else {}
        new = {prefix: entry for prefix, entry in base.prefixes.items() if known.get(prefix) != entry}
        gone = [*new, *(prefix for prefix in known if prefix not in base.prefixes)]
        await self._remove_prefixes(held.node_id, None if before is None else gone)
        rows = [_prefix_row(held.node_id, prefix, entry) for prefix, entry in new.items()]
        await self._add_all(NodePrefixFlap, rows)
        await self._add_all(
            NodePrefixFlapPath,
            [
                {"node_id": held.node_id, "prefix": prefix, "position": position, "path": path}
                for prefix, entry in new.items()
                for position, path in enumerate(entry.paths)
            ],
        )
        await self._keep(held, {"q": list(base.recent), "t": base.taken_at}, from_nothing)

    # --- both

    async def let_go(self, node_id: str, kind: SubjectKind, *, until: int | None) -> None:
        """The tier keeps it all again. `until`: unless more than this many reports were taken in since."""
        where = (FlapBase.node_id == node_id, FlapBase.kind == kind, FlapBase.held_in == "sql")
        query = update(FlapBase).where(*where)
        if until is not None:
            query = query.where(FlapBase.reports <= until)
        gone = await self.session.scalar(
            query.values(held_in="kv", document=None, from_nothing_at=None).returning(FlapBase.node_id)
        )
        if gone is None:
            return
        tables = (NodeBgpFlap,) if kind is SubjectKind.SESSION else (NodePrefixFlapPath, NodePrefixFlap)
        for table in tables:
            await self.session.execute(delete(table).where(table.node_id == node_id))

    async def list_bases(self, kind: SubjectKind, node_ids: Collection[str] | None) -> Sequence[FlapBase]:
        """The rows of these nodes, or of all."""
        query = select(FlapBase).where(FlapBase.kind == kind).order_by(FlapBase.node_id)
        if node_ids is not None:
            query = query.where(FlapBase.node_id.in_(node_ids))
        return (await self.session.scalars(query)).all()

    async def all_sessions(self, bases: Iterable[FlapBase]) -> dict[str, SessionBase]:
        """What the tables know of these nodes' sessions, in one statement."""
        documents = {base.node_id: base.document for base in bases if base.document is not None}
        entries: dict[str, dict[str, Any]] = {node: {} for node in documents}
        if documents:
            query = select(NodeBgpFlap).where(NodeBgpFlap.node_id.in_(documents))
            for row in await self.session.scalars(query):
                entries[row.node_id][row.session] = row.entry
        return {
            node: writing.read_sessions({**document, "s": entries[node]})
            for node, document in documents.items()
        }

    async def all_prefixes(self, bases: Iterable[FlapBase]) -> dict[str, PrefixBase]:
        """What the tables know of these nodes' prefixes, in one statement; without their paths."""
        documents = {base.node_id: base.document for base in bases if base.document is not None}
        entries: dict[str, dict[str, PrefixEntry]] = {node: {} for node in documents}
        if documents:
            query = select(NodePrefixFlap).where(NodePrefixFlap.node_id.in_(documents))
            for row in await self.session.scalars(query):
                entries[row.node_id][row.prefix] = _entry(row, [])
        return {
            node: PrefixBase(recent=tuple(document["q"]), taken_at=document["t"], prefixes=entries[node])
            for node, document in documents.items()
        }

    async def _remove_prefixes(self, node_id: str, prefixes: Sequence[str] | None) -> None:
        """Remove these rows of a node, or all of them."""
        for table in (NodePrefixFlapPath, NodePrefixFlap):
            whole = delete(table).where(table.node_id == node_id)
            if prefixes is None:
                await self.session.execute(whole)
                continue
            for begin in range(0, len(prefixes), _AT_ONCE):
                some = prefixes[begin : begin + _AT_ONCE]
                await self.session.execute(whole.where(table.prefix.in_(some)))

    async def _keep(self, held: Holding, document: Mapping[str, Any], from_nothing: float | None) -> None:
        at = None if from_nothing is None else datetime.fromtimestamp(from_nothing, UTC)
        await self._set(held.node_id, held.kind, held_in="sql", document=dict(document), from_nothing_at=at)

    async def _set(self, node_id: str, kind: SubjectKind, **values: Any) -> None:
        await self.session.execute(
            update(FlapBase).where(FlapBase.node_id == node_id, FlapBase.kind == kind).values(**values)
        )

    async def _add_all(self, table: Any, rows: Sequence[dict[str, Any]]) -> None:
        for begin in range(0, len(rows), _AT_ONCE):
            await self.session.execute(self._insert(table), rows[begin : begin + _AT_ONCE])

    def _insert(self, table: Any) -> Any:
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        return dialect.insert(table)


@cache
def _holding(dialect: str) -> Any:
    """Reports come every minute from every node: composing this statement took longer than running it."""
    new = (sqlite if dialect == "sqlite" else postgresql).insert(FlapBase.__table__)
    # An update that changes nothing holds the row as one that changes something does.
    held = new.on_conflict_do_update(
        index_elements=["node_id", "kind"], set_={"node_id": new.excluded.node_id}
    )
    return held.returning(FlapBase.__table__)


def _scored(tally: Tally) -> dict[str, Any]:
    return {
        "score": tally.score.value,
        "scored_at": datetime.fromtimestamp(tally.score.at, UTC),
        "level": tally.level,
    }


def _prefix_row(node_id: str, prefix: str, entry: PrefixEntry) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "prefix": prefix,
        **_scored(entry.tally),
        "events": entry.tally.events,
        "withdrawals": entry.withdrawals,
        "first_at": datetime.fromtimestamp(entry.tally.first_at, UTC),
        "last_at": datetime.fromtimestamp(entry.tally.last_at, UTC),
    }


def _entry(row: NodePrefixFlap, paths: Sequence[str]) -> PrefixEntry:
    score = Score(row.score, row.scored_at.timestamp())
    first, last = row.first_at.timestamp(), row.last_at.timestamp()
    tally = Tally(score, Level(row.level), row.events, first, last)
    return PrefixEntry(tally, row.withdrawals, tuple(paths))
