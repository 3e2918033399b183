"""The tables of a node as reports change them, a few hundred prefixes a statement."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.routing.models import RouteChange, RouteRow, RoutingState
from control_server.routing.schemas import BestChange, ChangeCause, Known, Place
from shared.protocol.fleet import Sight
from shared.protocol.reports import Route, Validity

#: Prefixes of one statement; SQLite takes 32,766 parameters.
_AT_ONCE = 500
#: Whatever the session has read before.
_ANEW = {"populate_existing": True}
_COLUMNS = tuple(getattr(RouteRow, name) for name in Route._fields)


@dataclass(frozen=True, slots=True)
class TableRepository:
    """Tables in one session."""

    session: AsyncSession

    async def hold(self, node_id: str) -> RoutingState:
        """The state of a node, held until the end of the transaction; made where there is none."""
        wanted = select(RoutingState).where(RoutingState.node_id == node_id).with_for_update()
        held = (await self.session.scalars(wanted, execution_options=_ANEW)).one_or_none()
        if held is not None:
            return held
        dialect = sqlite if self.session.get_bind().dialect.name == "sqlite" else postgresql
        nothing = {
            "node_id": node_id,
            "stream": "",
            "sequence": 0,
            "rounds": 0,
            "mark": 0,
            "synchronising": False,
            "sight": Sight.NOT_OBSERVED.value,
            "reason": "",
        }
        await self.session.execute(dialect.insert(RoutingState).values(**nothing).on_conflict_do_nothing())
        return (await self.session.scalars(wanted, execution_options=_ANEW)).one()

    async def routes(self, node_id: str, prefixes: Sequence[str]) -> dict[str, list[Route]]:
        """What is known of these prefixes."""
        found: dict[str, list[Route]] = {}
        for some in _portions(prefixes):
            wanted = select(RouteRow.prefix, *_COLUMNS).where(
                RouteRow.node_id == node_id, RouteRow.prefix.in_(some)
            )
            _gather(found, await self.session.execute(wanted))
        return found

    async def left_behind(self, node_id: str, mark: int, limit: int) -> dict[str, list[Route]]:
        """Prefixes that the newest telling of the whole has not named, at most so many rows."""
        wanted = select(RouteRow.prefix, *_COLUMNS).where(RouteRow.node_id == node_id, RouteRow.mark != mark)
        found: dict[str, list[Route]] = {}
        _gather(found, await self.session.execute(wanted.limit(limit)))
        return found

    async def remove(self, node_id: str, prefixes: Collection[str]) -> None:
        """Forget every route of these prefixes."""
        for some in _portions(list(prefixes)):
            await self.session.execute(
                delete(RouteRow).where(RouteRow.node_id == node_id, RouteRow.prefix.in_(some))
            )

    async def add(self, node_id: str, routes: Mapping[Place, Sequence[Route]], mark: int) -> None:
        """Keep these routes of prefixes of which nothing is kept."""
        rows = [_row(node_id, place, route, mark) for place, several in routes.items() for route in several]
        if rows:
            await self.session.execute(insert(RouteRow.__table__), rows)  # type: ignore[arg-type]

    async def mark(self, node_id: str, prefixes: Sequence[str], mark: int) -> None:
        """Note that the newest telling has named these prefixes."""
        for some in _portions(prefixes):
            await self.session.execute(
                update(RouteRow)
                .where(RouteRow.node_id == node_id, RouteRow.prefix.in_(some))
                .values(mark=mark)
                .execution_options(synchronize_session=False)
            )

    async def note(
        self, state: RoutingState, changes: Sequence[BestChange], cause: ChangeCause, at: datetime
    ) -> None:
        """Write changes into the history."""
        rows = [_history(state, change, cause, at) for change in changes]
        if rows:
            await self.session.execute(insert(RouteChange.__table__), rows)  # type: ignore[arg-type]

    async def forget_changes(self, before: datetime, most: int) -> int:
        """Remove at most so many of the oldest changes; how many there were."""
        wanted = (
            select(RouteChange.at)
            .where(RouteChange.at < before)
            .order_by(RouteChange.at)
            .offset(most - 1)
            .limit(1)
        )
        until = await self.session.scalar(wanted)
        condition = RouteChange.at <= until if until is not None else RouteChange.at < before
        removed = await self.session.execute(delete(RouteChange).where(condition))
        return int(getattr(removed, "rowcount", 0))


def known_of(state: RoutingState) -> Known:
    """The state as the rules take it."""
    return Known(
        stream=state.stream,
        sequence=state.sequence,
        rounds=state.rounds,
        mark=state.mark,
        synchronising=state.synchronising,
        complete_at=state.complete_at,
        daemon_started_at=state.daemon_started_at,
    )


def _portions(prefixes: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(prefixes)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _gather(found: dict[str, list[Route]], rows: Any) -> None:
    row: Row[Any]
    for row in rows:
        route = Route._make(row[1:])
        found.setdefault(row[0], []).append(route._replace(validity=Validity(route.validity)))


def _row(node_id: str, place: Place, route: Route, mark: int) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "prefix": place.prefix,
        "family": place.family,
        "length": place.length,
        "lowest": place.lowest,
        "mark": mark,
        **route._asdict(),
        "validity": route.validity.value,
    }


def _history(state: RoutingState, change: BestChange, cause: ChangeCause, at: datetime) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "node_id": state.node_id,
        "round": state.rounds,
        "prefix": change.prefix,
        "at": at,
        "kind": change.kind.value,
        "cause": cause.value,
        "before_protocol": before.protocol if before else None,
        "before_path": before.path if before else None,
        "before_origin": before.origin if before else None,
        "after_protocol": after.protocol if after else None,
        "after_path": after.path if after else None,
        "after_origin": after.origin if after else None,
    }
