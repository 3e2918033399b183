"""Prometheus series of the HTTP layer and of loops. A registry a service: two may share a process."""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from shared.kernel.errors import AppError, Kind
from shared.web.routing import Router

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebMetrics:
    """What the app builder counts."""

    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    streams: Gauge
    sockets: Gauge
    #: Children of both series by their labels: looking one up costs more than counting.
    _of_labels: dict[tuple[str, str, str], tuple[Counter, Histogram]] = field(
        default_factory=dict, repr=False
    )

    def note_request(self, method: str, route: str, status: str, seconds: float) -> None:
        """Count a request that ended; the route's pattern, never a path, and the class of the status."""
        labels = (method, route, status)
        found = self._of_labels.get(labels)
        if found is None:
            found = self._of_labels[labels] = (self.requests.labels(*labels), self.seconds.labels(route))
        found[0].inc()
        found[1].observe(seconds)

    @classmethod
    def in_registry(cls, registry: CollectorRegistry) -> WebMetrics:
        """Register the series; labels are bounded sets, never ids."""
        return cls(
            registry=registry,
            requests=Counter(
                "routeloom_http_requests",
                "Requests by route and status class",
                ("method", "route", "status"),
                registry=registry,
            ),
            seconds=Histogram(
                "routeloom_http_request_seconds",
                "Time to the end of the response",
                ("route",),
                registry=registry,
            ),
            streams=Gauge("routeloom_http_streams", "Open event streams", registry=registry),
            sockets=Gauge("routeloom_http_sockets", "Open WebSockets", registry=registry),
        )


class CountedLoops:
    """Counts and logs the passes of background loops."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the series of loops."""
        self._seconds = Histogram("routeloom_loop_seconds", "Time of one pass", ("loop",), registry=registry)
        self._failures = Counter(
            "routeloom_loop_failures", "Passes that failed", ("loop",), registry=registry
        )

    def finished(self, name: str, seconds: float) -> None:
        """Note a pass that ended well."""
        self._seconds.labels(name).observe(seconds)

    def failed(self, name: str, error: BaseException) -> None:
        """Note a pass that failed; the loop goes on."""
        self._failures.labels(name).inc()
        if isinstance(error, AppError) and error.kind is Kind.UNAVAILABLE:
            # Where something is away or full it says so; where in the code that was met helps nobody.
            log.error("loop.failed", loop=name, error=error.code, reason=error.detail)
            return
        log.error("loop.failed", loop=name, error=type(error).__name__, exc_info=error)


def metrics_router(prefix: str) -> APIRouter:
    """`GET <prefix>/metrics` in the Prometheus text format; the proxy does not publish it."""
    router = Router(prefix=prefix, include_in_schema=False)

    @router.get("/metrics")
    async def read_metrics(request: Request) -> Response:
        registry: CollectorRegistry = request.app.state.metrics.registry
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router
