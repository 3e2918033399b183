"""Running probes between their start and the archive: on the kv tier, or in this process."""

from control_server.probes.rules import TRUNCATED
from control_server.probes.store.fallback import RelayWithFallback
from control_server.probes.store.in_process import ProbeRelay, Subscription
from control_server.probes.store.on_kv import KvRelay
from control_server.probes.store.relay import (
    KEPT_AFTER_END,
    RESYNC,
    VIEWER_QUEUE,
    Changed,
    Following,
    Relay,
    Resync,
)

__all__ = [
    "KEPT_AFTER_END",
    "RESYNC",
    "TRUNCATED",
    "VIEWER_QUEUE",
    "Changed",
    "Following",
    "KvRelay",
    "ProbeRelay",
    "Relay",
    "RelayWithFallback",
    "Resync",
    "Subscription",
]
