"""Every Prometheus series, collected from the registries that the services fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from control_server.metrics import FleetMetrics, JobMetrics, ProbeMetrics
from registry_server.metrics import RegistryMetrics, watch_protocols
from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table
from shared.cache.metrics import PrometheusObserver
from shared.web.metrics import CountedLoops, WebMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTRODUCTION = """`GET /metrics`, `/auth/metrics` and `/registry/metrics` in the Prometheus text
format. Labels are bounded sets, never ids, except in `GET /metrics/fleet`, which needs `fleet:read` and has
one series for each node and session of the inventory. Counters end in `_total` on the wire."""


def page() -> str:
    """`docs/reference/metrics.md`."""
    parts = []
    for title, registry in (
        ("Every service", _every()),
        ("control_server", _control()),
        ("registry_server", _mirror()),
    ):
        parts.append(
            f"## {title}\n\n{table(('series', 'type', 'labels', 'meaning'), sorted(_rows(registry)))}"
        )
    return whole("Metrics", _INTRODUCTION, *parts)


def _every() -> CollectorRegistry:
    registry = CollectorRegistry()
    WebMetrics.in_registry(registry)
    CountedLoops(registry)
    PrometheusObserver(registry)
    return registry


def _control() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProbeMetrics.in_registry(registry, lambda: 0)
    JobMetrics.in_registry(registry)
    FleetMetrics(registry)
    return registry


def _mirror() -> CollectorRegistry:
    registry = CollectorRegistry()
    RegistryMetrics.in_registry(registry)
    watch_protocols(registry, {})
    return registry


def _rows(registry: CollectorRegistry) -> Iterator[tuple[str, str, str, str]]:
    collectors: list[Any] = list(registry._collector_to_names)  # noqa: SLF001 - listed nowhere else
    for collector in collectors:
        labels = ", ".join(getattr(collector, "_labelnames", ()))
        for metric in collector.describe():
            yield f"`{metric.name}`", metric.type, labels, metric.documentation
