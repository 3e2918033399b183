"""Every Prometheus series of control_server beyond those of the HTTP layer. Labels are bounded sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


@dataclass(frozen=True, slots=True)
class ProbeMetrics:
    """What probes count."""

    started: Counter
    finished: Counter
    lines: Counter
    refused: Counter

    @classmethod
    def in_registry(cls, registry: CollectorRegistry, viewers: Callable[[], float]) -> ProbeMetrics:
        """Register the series; `viewers` answers how many streams are open now."""
        gauge = Gauge("routeloom_probe_viewers", "Open streams of running probes", registry=registry)
        gauge.set_function(viewers)
        return cls(
            started=Counter("routeloom_probes_started", "Probes by tool", ("tool",), registry=registry),
            finished=Counter(
                "routeloom_probes_finished", "Probes by ending", ("state", "reason"), registry=registry
            ),
            lines=Counter("routeloom_probe_lines", "Lines received from agents", registry=registry),
            refused=Counter(
                "routeloom_probe_frames_refused", "Agents' frames refused", ("code",), registry=registry
            ),
        )


@dataclass(frozen=True, slots=True)
class JobMetrics:
    """What background jobs count and show."""

    jobs: Gauge
    oldest: Gauge
    attempts: Counter
    seconds: Histogram
    reclaimed: Counter

    @classmethod
    def in_registry(cls, registry: CollectorRegistry) -> JobMetrics:
        """Register the series; queues and kinds are those of this version."""
        return cls(
            jobs=Gauge("routeloom_jobs", "Jobs by place", ("queue", "place"), registry=registry),
            oldest=Gauge(
                "routeloom_job_oldest_seconds",
                "How long the first pending job waits already",
                ("queue",),
                registry=registry,
            ),
            attempts=Counter(
                "routeloom_job_attempts", "Attempts by their end", ("kind", "outcome"), registry=registry
            ),
            seconds=Histogram("routeloom_job_seconds", "Time of one attempt", ("kind",), registry=registry),
            reclaimed=Counter(
                "routeloom_jobs_reclaimed", "Jobs of workers that were gone", ("queue",), registry=registry
            ),
        )


class FleetMetrics:
    """Series of `/metrics/fleet`: by node and session, for those of the inventory alone.

    Made anew for each reading; what is not known has no value at all, which is not zero.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the series."""

        def gauge(name: str, meaning: str, *labels: str) -> Gauge:
            return Gauge(f"routeloom_{name}", meaning, ("node", *labels), registry=registry)

        self.up = gauge("node_up", "Whether the agent is online")
        self.seen = gauge("node_last_seen_timestamp_seconds", "When the agent was heard last")
        self.generation = gauge("node_generation", "Generation, desired and applied", "kind")
        self.prefixes = gauge("node_prefixes", "Prefixes with a best route", "family")
        self.traffic = gauge("node_traffic_bits_per_second", "Of all links, last 5 minutes", "direction")
        self.session_up = gauge("session_up", "Whether the session is Established", "session")
        self.session_since = gauge(
            "session_since_timestamp_seconds", "Since when the session is as it is", "session"
        )
        self.session_routes = gauge("session_routes", "Routes of the session", "session", "channel", "kind")
