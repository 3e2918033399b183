"""What charges scores, what closes incidents of them, and how long what happened is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from control_server.durable import UPKEEP
from control_server.flaps.dependencies import flap_retention, prefix_flaps, session_flaps, watch_of
from control_server.flaps.repository import FlapTables
from control_server.flaps.schemas import ChangeKind, Heard, PrefixChange, PrefixesHeard
from control_server.flaps.service import PrefixFlaps
from control_server.jobs.schemas import JobKind
from control_server.observations.service import ReportObserver, Said
from control_server.resources import ControlResources
from control_server.routing.schemas import BestChange, ChangeCause
from control_server.routing.service.keeping import HeardBestPaths
from shared.kernel.clock import Clock
from shared.kernel.loops import Loop
from shared.protocol.fleet import RuntimeSnapshot

_PARDONED = frozenset({ChangeCause.FIRST_SIGHT, ChangeCause.DAEMON_RESTART})


def observer(resources: ControlResources) -> ReportObserver:
    """Charges sessions by the snapshots of their nodes."""
    flaps = session_flaps(resources)

    async def charge(session: Any, said: Said) -> None:
        if isinstance(said.report, RuntimeSnapshot):
            heard = Heard(said.at, said.fencing_token)
            await flaps.hear(FlapTables(session), said.node_id, said.report, heard)

    return charge


@dataclass(frozen=True, slots=True)
class BestPathRecorder:
    """Charges prefixes with one report."""

    flaps: PrefixFlaps
    heard: Heard

    async def write(self, session: Any, heard: HeardBestPaths) -> None:
        """Called inside the transaction of the report, once."""
        report = PrefixesHeard(
            taken_at=heard.taken_at,
            changes=tuple(_change(change, heard) for change in heard.changes),
            updates=heard.updates,
            pardoned=heard.cause in _PARDONED,
            rated=heard.cause is ChangeCause.CHANGE,
        )
        await self.flaps.hear(FlapTables(session), heard.node_id, report, self.heard)


@dataclass(frozen=True, slots=True)
class BestPathCharges:
    """Charges prefixes with changes of best paths."""

    flaps: PrefixFlaps
    now: Clock

    async def begin(self, node_id: str, fencing_token: int | None) -> BestPathRecorder:
        """A report comes. Nothing is asked outside the database before it is stored."""
        del node_id
        return BestPathRecorder(self.flaps, Heard(self.now(), fencing_token))


def best_paths(resources: ControlResources) -> BestPathCharges:
    """Charges prefixes of all nodes."""
    return BestPathCharges(prefix_flaps(resources), resources.now)


def loops(resources: ControlResources) -> list[Loop]:
    """The watch that closes."""
    return [Loop("flaps.watch", watch_of(resources).look, interval=timedelta(seconds=10))]


def kinds(resources: ControlResources) -> list[JobKind]:
    """Retention."""
    keep = flap_retention(resources)
    return [JobKind("retention.flaps", UPKEEP, keep.history, every=timedelta(hours=1), by_hand=True)]


def _change(change: BestChange, heard: HeardBestPaths) -> PrefixChange:
    path = f"{change.after.protocol} {change.after.path}".strip() if change.after else ""
    return PrefixChange(change.prefix, ChangeKind(change.kind.value), heard.taken_at, path)
