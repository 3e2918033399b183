"""One node that does not exist: its sessions, counters and clock, and what its agent says of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from routeloom.simulate.plan import TICK, Plan
from routeloom.simulate.routes import Table, session_asn, session_name
from routeloom.simulate.truth import Truth
from shared import __version__
from shared.protocol.fleet import ChannelState, Part, ProtocolState, RuntimeSnapshot, Sight
from shared.protocol.frames import Heartbeat
from shared.protocol.reports import CounterReading, LinkKind, TrafficSample

_LINK_BITS = 1_000_000_000
#: Counters have been running for long: whoever sets them back makes them smaller.
_COUNTED_BEFORE = 10**12
_GREATEST_RATE = 40_000_000


@dataclass
class Session:
    """A BGP session with a neighbour outside."""

    name: str
    asn: int
    up: bool = True
    #: Seconds of the simulation at which it came to its state.
    since: int = 0
    error: str = ""


@dataclass
class Link:
    """An interface with its counters."""

    name: str
    kind: LinkKind
    epoch: str
    received: int = _COUNTED_BEFORE
    sent: int = _COUNTED_BEFORE


@dataclass
class SimulatedNode:
    """A router with everything that its agent can see."""

    plan: Plan
    index: int
    truth: Truth
    sessions: list[Session] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    #: Seconds that its clock is ahead.
    clock_ahead: int = 0
    booted_at: int = -86_400
    daemon_started_at: int = -3600
    boot: int = 0
    #: Lives of the agent, and samples of the present one.
    life: int = 0
    samples: int = 0
    #: Sessions that were Established in the last snapshot that the server has.
    sessions_told: int = 0

    def __post_init__(self) -> None:
        """Make its parts."""
        self.name = self.plan.node_name(self.index)
        self.table = Table(self.plan, self.index)
        self._dice = Random(f"{self.plan.seed}/traffic/{self.index}")  # noqa: S311 - made up
        for place in range(self.plan.sessions):
            self.sessions.append(Session(session_name(place), session_asn(self.index, place), since=-3600))
            self.links.append(Link(f"wg-{session_name(place)}", LinkKind.TUNNEL, f"tunnel-{place}"))
        self.links.append(Link("eth0", LinkKind.PHYSICAL, "ethernet"))

    # --- time --------------------------------------------------------------------------------------

    def wall(self, at: float) -> datetime:
        """What its clock shows at a second of the simulation; an instant of the past moves with the clock."""
        return self.plan.start + timedelta(seconds=at + self.clock_ahead)

    def flow(self) -> None:
        """The traffic of one tick."""
        through_tunnels = [self._volume() for _ in self.links[:-1]]
        self._count(self.links[-1], (sum(v[0] for v in through_tunnels), sum(v[1] for v in through_tunnels)))
        for link, volume in zip(self.links, through_tunnels, strict=False):
            self._count(link, volume)

    def _volume(self) -> tuple[int, int]:
        most = _GREATEST_RATE * TICK // max(self.plan.sessions, 1)
        return self._dice.randrange(most), self._dice.randrange(most // 2)

    def _count(self, link: Link, volume: tuple[int, int]) -> None:
        link.received += volume[0]
        link.sent += volume[1]
        self.truth.meter(self.name, link.name).untold.add(*volume)

    # --- what befalls it ---------------------------------------------------------------------------

    def fall(self, places: list[int], at: int, error: str = "Error: Hold timer expired") -> None:
        """Sessions leave Established."""
        for place in places:
            session = self.sessions[place]
            session.up, session.since, session.error = False, at, error
            self.table.session_changed(place)

    def rise(self, places: list[int], at: int) -> None:
        """Sessions come to Established."""
        for place in places:
            session = self.sessions[place]
            session.up, session.since, session.error = True, at, ""
            self.table.session_changed(place)

    def counters_begin_anew(self, place: int, *, openly: bool) -> None:
        """The counters of one link start at nothing; `openly` when they can be told from the old ones."""
        link = self.links[place % len(self.links)]
        link.received = link.sent = 0
        if openly:
            link.epoch += "+"
        self.truth.meter(self.name, link.name).broken = True

    def reboot(self, at: int) -> None:
        """The host starts anew, and everything on it."""
        self.boot += 1
        self.booted_at = self.daemon_started_at = at
        for place in range(len(self.links)):
            self.counters_begin_anew(place, openly=True)

    # --- what its agent says -----------------------------------------------------------------------

    @property
    def boot_id(self) -> str:
        """Of this start of the host."""
        return f"{self.name}-boot-{self.boot}"

    @property
    def stream(self) -> str:
        """The present life of the agent."""
        return f"{self.name}-{self.plan.seed}-{self.life}"

    @property
    def up(self) -> Mapping[int, datetime]:
        """The sessions that are Established, and from when on."""
        return {place: self.wall(session.since) for place, session in enumerate(self.sessions) if session.up}

    def heartbeat(self, at: int) -> Heartbeat:
        """That the agent works."""
        return Heartbeat(
            agent_version=__version__,
            uptime_seconds=at - self.booted_at,
            load=(0.2, 0.2, 0.2),
            memory_used_bytes=600_000_000,
            memory_total_bytes=2_000_000_000,
        )

    def sample(self, at: int) -> TrafficSample:
        """The counters now."""
        self.samples += 1
        return TrafficSample(
            stream=self.stream,
            sequence=self.samples,
            taken_at=self.wall(at),
            monotonic_seconds=at - self.booted_at,
            boot_id=self.boot_id,
            counters=tuple(self._reading(link) for link in self.links),
        )

    def _reading(self, link: Link) -> CounterReading:
        return CounterReading(
            interface=link.name,
            kind=link.kind,
            epoch=f"{self.boot_id}/{link.epoch}",
            received_bytes=link.received,
            sent_bytes=link.sent,
            link_bits=_LINK_BITS if link.kind is LinkKind.PHYSICAL else None,
        )

    def snapshot(self, at: int) -> RuntimeSnapshot:
        """What runs now."""
        seen = Part(sight=Sight.OBSERVED)
        return RuntimeSnapshot(
            taken_at=self.wall(at),
            bird_version="2.17.1",
            bird_started_at=self.wall(self.daemon_started_at),
            running="simulated",
            links=seen,
            routing=seen,
            protocols=tuple(self._protocol(place) for place in range(len(self.sessions))),
        )

    def _protocol(self, place: int) -> ProtocolState:
        session = self.sessions[place]
        told = sum(place in self.table.tellers(index) for index in self.table.prefixes)
        return ProtocolState(
            name=session.name,
            kind="BGP",
            state="up" if session.up else "start",
            info="Established" if session.up else f"Active        {session.error}",
            since=self.wall(session.since),
            since_precision_seconds=0.001,
            bgp_state="Established" if session.up else "Active",
            error=session.error,
            error_class="local_error" if session.error else None,
            neighbor_address=f"fe80::{place + 1:x}",
            neighbor_asn=session.asn,
            channels=(self._channel(session, told),),
        )

    @staticmethod
    def _channel(session: Session, told: int) -> ChannelState:
        if not session.up:
            return ChannelState(name="ipv6", state="DOWN")
        return ChannelState(
            name="ipv6", state="UP", imported=told, filtered=0, exported=1, preferred=told // 2
        )
