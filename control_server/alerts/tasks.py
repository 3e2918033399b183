"""Background work of alerts."""

from __future__ import annotations

from datetime import timedelta

from control_server.alerts.dependencies import deliveries_of, watch_of
from control_server.alerts.service.deliveries import KIND
from control_server.durable import NOTIFICATIONS, UPKEEP
from control_server.jobs.schemas import JobKind
from control_server.resources import ControlResources
from shared.kernel.loops import Loop


def kinds(resources: ControlResources) -> list[JobKind]:
    """Delivery and retention."""
    deliveries = deliveries_of(resources)
    # A whole attempt is bounded by the webhook's own limit; this one is for the database around it.
    limit = timedelta(seconds=resources.settings.alerts.seconds + 25)
    return [
        JobKind(KIND, NOTIFICATIONS, deliveries.deliver, time_limit=limit, died=deliveries.died),
        JobKind("retention.alerts", UPKEEP, deliveries.forget, every=timedelta(hours=1), by_hand=True),
    ]


def loops(resources: ControlResources) -> list[Loop]:
    """The watch, and the reconciler that makes jobs from facts."""
    watch, deliveries = watch_of(resources), deliveries_of(resources)
    return [
        Loop("alerts.watch", watch.look, interval=timedelta(seconds=10)),
        Loop("alerts.reconcile", deliveries.reconcile, interval=timedelta(seconds=30)),
    ]
