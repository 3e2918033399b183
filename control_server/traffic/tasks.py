"""Which samples are heard here, and how long the archives reach back."""

from __future__ import annotations

from datetime import timedelta

from control_server.agents.service import Switchboard
from control_server.durable import UPKEEP
from control_server.jobs.schemas import JobKind
from control_server.resources import ControlResources
from control_server.traffic.dependencies import sample_keeper, traffic_retention
from shared.protocol.reports import TrafficSample


def hear(switchboard: Switchboard, resources: ControlResources) -> None:
    """Take the samples that come over sockets."""
    switchboard.handlers[TrafficSample] = sample_keeper(resources).hear


def kinds(resources: ControlResources) -> list[JobKind]:
    """Retention."""
    keep = traffic_retention(resources)
    return [JobKind("retention.traffic", UPKEEP, keep.archives, every=timedelta(hours=1), by_hand=True)]
