"""Which reports are heard here, and how long changes are kept."""

from __future__ import annotations

from datetime import timedelta

from control_server.agents.service import Switchboard
from control_server.durable import UPKEEP
from control_server.jobs.schemas import JobKind
from control_server.resources import ControlResources
from control_server.routing.dependencies import route_retention
from control_server.routing.service import TableKeeper
from shared.protocol.reports import PrefixReport


def hear(switchboard: Switchboard, keeper: TableKeeper) -> None:
    """Take the reports that come over sockets."""
    switchboard.handlers[PrefixReport] = keeper.hear


def kinds(resources: ControlResources) -> list[JobKind]:
    """Retention."""
    keep = route_retention(resources)
    return [JobKind("retention.routing", UPKEEP, keep.changes, every=timedelta(hours=1), by_hand=True)]
