"""Which reports of agents are heard here."""

from __future__ import annotations

from collections.abc import Sequence

from control_server.agents.service import Switchboard
from control_server.observations.service import Listening, ReportObserver
from control_server.resources import ControlResources
from shared.protocol.fleet import ApplyResult, ReconciliationReport, RuntimeSnapshot


def hear(
    switchboard: Switchboard, resources: ControlResources, observers: Sequence[ReportObserver] = ()
) -> None:
    """Take the reports that come over sockets."""
    listening = Listening(resources.database, resources.now, observers)
    for frame in (ApplyResult, ReconciliationReport, RuntimeSnapshot):
        switchboard.handlers[frame] = listening.hear
