"""What is to be said of the node: the newest of each kind, said again after each reconnect."""

from __future__ import annotations

import asyncio

from shared.protocol.fleet import ApplyResult, ReconciliationReport, RuntimeSnapshot
from shared.protocol.reports import PrefixReport, TrafficSample

NodeReport = ApplyResult | ReconciliationReport | RuntimeSnapshot | TrafficSample | PrefixReport


class Reports:
    """Holds one report of each kind: an old one is worth nothing once there is a newer."""

    def __init__(self) -> None:
        self._newest: dict[str, NodeReport] = {}
        self._unsent: dict[str, NodeReport] = {}
        self.changed = asyncio.Event()

    def put(self, report: NodeReport) -> None:
        """Take a report to be sent as soon as may be."""
        self._newest[report.type] = report
        self._unsent[report.type] = report
        self.changed.set()

    def forget(self, report: NodeReport) -> None:
        """The server has it, or does not want it: say it no more."""
        for kept in (self._newest, self._unsent):
            if kept.get(report.type) is report:
                del kept[report.type]

    def rewind(self) -> None:
        """A new connection: nobody knows what the old one still carried."""
        self._unsent = dict(self._newest)
        if self._unsent:
            self.changed.set()

    def take(self) -> list[NodeReport]:
        """What is to be sent now."""
        self.changed.clear()
        unsent, self._unsent = list(self._unsent.values()), {}
        return unsent
