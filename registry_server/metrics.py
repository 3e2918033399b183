"""Every Prometheus series of registry_server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from registry_server.mirror.schemas import SyncOutcome, SyncRead
from registry_server.objects.schemas import IndexCounts


@dataclass(frozen=True, slots=True)
class RegistryMetrics:
    """Counts syncs and what they left; labels are classes of objects and words of ours."""

    syncs: Counter
    seconds: Histogram
    objects: Gauge
    routes: Gauge
    problems: Gauge
    checked: Gauge

    @classmethod
    def in_registry(cls, registry: CollectorRegistry) -> RegistryMetrics:
        """Register the series."""
        return cls(
            syncs=Counter("routeloom_registry_syncs", "Syncs by outcome", ("outcome",), registry=registry),
            seconds=Histogram(
                "routeloom_registry_sync_seconds", "Time of an applied sync", ("mode",), registry=registry
            ),
            objects=Gauge(
                "routeloom_registry_objects", "Objects by class", ("object_class",), registry=registry
            ),
            routes=Gauge(
                "routeloom_registry_routes",
                "Pairs of prefix and origin",
                ("object_class",),
                registry=registry,
            ),
            problems=Gauge("routeloom_registry_problems", "Problems in files", registry=registry),
            checked=Gauge(
                "routeloom_registry_checked_timestamp_seconds",
                "When upstream last had nothing newer than what is served",
                registry=registry,
            ),
        )

    def synced(self, sync: SyncRead, counts: IndexCounts | None) -> None:
        """Count one sync."""
        self.syncs.labels(sync.outcome.value).inc()
        if sync.outcome in {SyncOutcome.APPLIED, SyncOutcome.UNCHANGED}:
            self.checked.set(sync.started_at.timestamp())
        if sync.outcome is SyncOutcome.APPLIED and sync.mode is not None:
            elapsed = sync.finished_at - sync.started_at
            self.seconds.labels(sync.mode.value).observe(elapsed.total_seconds())
        if counts is None:
            return
        self.problems.set(sum(counts.problems.values()))
        for gauge, values in ((self.objects, counts.objects), (self.routes, counts.routes)):
            gauge.clear()
            for name, number in values.items():
                gauge.labels(name).set(number)


#: Name and meaning of what the protocol servers of this process can say at any time.
PROTOCOL_SERIES = {
    "routeloom_registry_whois_connections": "Open whois connections",
    "routeloom_registry_whois_questions": "Questions answered on the whois port since the start",
    "routeloom_registry_whois_refusals": "Of these, refused as wrong in themselves",
    "routeloom_registry_rtr_connections": "Connected routers",
    "routeloom_registry_rtr_serial": "Serial that routers are told; 0 while there is no data",
    "routeloom_registry_snapshot_version": "Sync that the protocols answer from; 0 before the first",
}


def watch_protocols(registry: CollectorRegistry, values: dict[str, Callable[[], float]]) -> None:
    """Register the series; each is read when it is asked for, so that answering costs nothing more."""
    for name, meaning in PROTOCOL_SERIES.items():
        Gauge(name, meaning, registry=registry).set_function(values.get(name, lambda: 0))
