"""Prometheus series of the tiers. Labels are bounded sets: tiers, declared families, operations, reasons."""

from __future__ import annotations

from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from shared.cache.breaker import BreakerState
from shared.cache.errors import Reason
from shared.cache.tier import Tier

S = TypeVar("S", Counter, Gauge, Histogram)

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class PrometheusObserver:
    """Counts into the registry of the service that it is made for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._children: dict[tuple[int | str, ...], Any] = {}
        self._operations = Counter(
            "routeloom_cache_operations",
            "Operations on a tier by how they ended.",
            ("tier", "family", "operation", "result"),
            registry=registry,
        )
        self._exchanges = Histogram(
            "routeloom_cache_exchange_seconds",
            "Time from asking a tier to its answer, or to giving up.",
            ("tier", "operation"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._failures = Counter(
            "routeloom_cache_failures",
            "Calls that a tier did not answer.",
            ("tier", "reason"),
            registry=registry,
        )
        self._declare_state(registry)
        self._declare_subscribers(registry)

    def counted(self, tier: Tier, family: str, operation: str, result: str) -> None:
        """Count an operation."""
        self._of(self._operations, tier, family, operation, result).inc()

    def took(self, tier: Tier, operation: str, seconds: float) -> None:
        """Record how long an exchange took."""
        self._of(self._exchanges, tier, operation).observe(seconds)

    def _of(self, series: S, *labels: str) -> S:
        """The child of these labels, remembered: looking it up takes longer than counting."""
        key: tuple[int | str, ...] = (id(series), *labels)
        found: S | None = self._children.get(key)
        if found is None:
            found = self._children[key] = series.labels(*labels)
        return found

    def failed(self, tier: Tier, reason: Reason) -> None:
        """Count a call without an answer."""
        self._failures.labels(tier, reason).inc()

    def breaker_changed(self, tier: Tier, state: BreakerState) -> None:
        """Show the state as one of three gauges."""
        for possible in BreakerState:
            self._breaker.labels(tier, possible).set(possible is state)
        self._breaker_changes.labels(tier, state).inc()

    def pool_used(self, tier: Tier, in_use: int, size: int) -> None:
        """Show the pool."""
        self._of(self._pool, tier).set(in_use)
        self._of(self._pool_size, tier).set(size)

    def subscriber_reconnected(self, tier: Tier) -> None:
        """Count a subscriber connection."""
        self._subscriber_connections.labels(tier).inc()

    def subscriber_overflowed(self, tier: Tier, family: str) -> None:
        """Count a dropped queue."""
        self._subscriber_overflows.labels(tier, family).inc()

    def probed(self, tier: Tier, up: bool, memory_share: float | None, keys_without_ttl: int | None) -> None:
        """Show what the prober saw."""
        self._up.labels(tier).set(up)
        if memory_share is not None:
            self._memory.labels(tier).set(memory_share)
        if keys_without_ttl is not None:
            self._keys_without_ttl.labels(tier).set(keys_without_ttl)

    def _declare_state(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"routeloom_cache_{name}", text, ("tier", *labels), registry=registry)

        self._breaker = gauge("breaker_state", "1 for the state that the breaker is in.", "state")
        self._breaker_changes = Counter(
            "routeloom_cache_breaker_changes",
            "Times that the breaker entered a state.",
            ("tier", "state"),
            registry=registry,
        )
        self._pool = gauge("pool_connections_in_use", "Connections in use.")
        self._pool_size = gauge("pool_connections_limit", "Connections that may be in use.")
        self._up = gauge("up", "1 when the last probe was answered.")
        self._memory = gauge("memory_share", "Used memory as a share of the limit.")
        self._keys_without_ttl = gauge("keys_without_ttl", "Keys that never expire, of our database.")

    def _declare_subscribers(self, registry: CollectorRegistry) -> None:
        self._subscriber_connections = Counter(
            "routeloom_cache_subscriber_connections",
            "Times that the subscriber connection was made.",
            ("tier",),
            registry=registry,
        )
        self._subscriber_overflows = Counter(
            "routeloom_cache_subscriber_overflows",
            "Queues of slow subscribers that were dropped.",
            ("tier", "family"),
            registry=registry,
        )
