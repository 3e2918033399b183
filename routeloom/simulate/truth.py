"""What really happened, by construction, in the terms in which the server tells it. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from shared.protocol.reports import TrafficSample

#: What goes by in a longer silence is known to nobody.
_LONGEST_SILENCE = 90


@dataclass
class Volume:
    """Bytes of one interface."""

    received: int = 0
    sent: int = 0

    def add(self, received: int, sent: int) -> None:
        """Count more."""
        self.received += received
        self.sent += sent


@dataclass
class Meter:
    """One interface: what went by, and what of it two samples in a row can tell."""

    told: Volume = field(default_factory=Volume)
    untold: Volume = field(default_factory=Volume)
    told_at: int | None = None
    #: The counters began anew since the last sample.
    broken: bool = False

    def sampled(self, at: int) -> None:
        """The server has a sample of now."""
        if self.told_at is not None and not self.broken and at - self.told_at <= _LONGEST_SILENCE:
            self.told.add(self.untold.received, self.untold.sent)
        self.untold, self.told_at, self.broken = Volume(), at, False


@dataclass
class Truth:
    """Of the whole fleet, by names of nodes."""

    #: Falls of a session that are charged to it, by node and session.
    session_flaps: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Falls of most sessions at once, which are charged to the node.
    node_flaps: Counter[str] = field(default_factory=Counter)
    meters: dict[tuple[str, str], Meter] = field(default_factory=dict)
    #: Since when a node's agent is silent, in seconds of the simulation; a node that speaks is not in it.
    silent_since: dict[str, int] = field(default_factory=dict)
    #: Nodes whose agents were stopped for so long that somebody may well have taken them for lost.
    long_silent: set[str] = field(default_factory=set)

    def heard(self, node: str, at: int) -> None:
        """The agent of a node speaks."""
        since = self.silent_since.pop(node, at)
        if at - since > _LONGEST_SILENCE:
            self.long_silent.add(node)

    def meter(self, node: str, interface: str) -> Meter:
        """The meter of an interface."""
        return self.meters.setdefault((node, interface), Meter())

    def sampled(self, node: str, sample: TrafficSample, at: int) -> None:
        """The server has taken a sample."""
        for reading in sample.counters:
            self.meter(node, reading.interface).sampled(at)

    def volumes(self) -> dict[tuple[str, str], Volume]:
        """What the server can know, by node and interface."""
        return {key: meter.told for key, meter in self.meters.items()}
