"""Nodes whose agents tell what they see, with a clock that is turned by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from control_server.flaps import tasks
from control_server.flaps.dependencies import flap_service, prefix_flaps, watch_of
from control_server.flaps.repository import FlapTables
from control_server.flaps.schemas import ChangeKind, Heard, PrefixChange, PrefixesHeard
from control_server.flaps.service import FlapService
from control_server.nodes.models import Node
from control_server.observations.service import Listening
from control_server.resources import ControlResources, open_resources
from control_server.settings import ControlSettings
from shared.cache import TierSettings
from shared.protocol.fleet import Part, ProtocolState, RuntimeSnapshot, Sight
from tests.integration.control.enrolment.office import HandClock

#: Longer than any pause of a busy machine: nothing here is about how long an answer takes.
PATIENT = timedelta(seconds=2)
HOLD_TIMER = "BGP Error: Hold timer expired"


@dataclass
class Session:
    """A session of a node as BIRD shows it."""

    name: str
    since: datetime
    established: bool = True
    error: str = ""

    def shown(self) -> ProtocolState:
        return ProtocolState(
            name=self.name,
            kind="BGP",
            state="up" if self.established else "start",
            bgp_state="Established" if self.established else "Connect",
            since=self.since,
            error=self.error,
            error_class="local_notification" if self.error else None,
            neighbor_asn=4242429901,
        )


@dataclass
class Router:
    """One node: what its BIRD shows, whatever anybody hears of it."""

    node_id: str
    sessions: dict[str, Session] = field(default_factory=dict)

    def begin(self, names: Sequence[str], at: datetime) -> None:
        self.sessions = {name: Session(name, at) for name in names}

    def drop(self, name: str, at: datetime) -> None:
        self.sessions[name] = Session(name, at, established=False, error=HOLD_TIMER)

    def rise(self, name: str, at: datetime) -> None:
        self.sessions[name] = Session(name, at)

    def flap(self, name: str, at: datetime) -> None:
        """Down and up again before anybody looks."""
        self.rise(name, at)

    def snapshot(self, at: datetime) -> RuntimeSnapshot:
        return RuntimeSnapshot(
            taken_at=at,
            routing=Part(sight=Sight.OBSERVED),
            running="1-a",
            protocols=tuple(session.shown() for session in self.sessions.values()),
        )


@dataclass
class Stage:
    """A server without a transport: reports go in, scores come out."""

    resources: ControlResources
    clock: HandClock
    router: Router

    @property
    def flaps(self) -> FlapService:
        return flap_service(self.resources)

    async def tell(self, fencing_token: int | None = None, snapshot: RuntimeSnapshot | None = None) -> None:
        """What the router shows now."""
        listening = Listening(self.resources.database, self.clock, [tasks.observer(self.resources)])
        await listening.take(
            self.router.node_id, snapshot or self.router.snapshot(self.clock()), fencing_token
        )

    async def pass_by(self, seconds: float = 300) -> None:
        """Time passes, and the agent tells."""
        self.clock.turn(timedelta(seconds=seconds))
        await self.tell()

    async def report(self, *changes: tuple[str, ChangeKind], fencing_token: int | None = None) -> None:
        """A prefix report, as of now."""
        now = self.clock()
        told = tuple(PrefixChange(prefix, kind, now, "f 4242429901") for prefix, kind in changes)
        heard = PrefixesHeard(taken_at=now, changes=told, updates=len(told))
        async with self.resources.database.transaction() as session:
            await prefix_flaps(self.resources).hear(
                FlapTables(session), self.router.node_id, heard, Heard(now, fencing_token)
            )

    async def score(self, name: str) -> float:
        """Of a session, or of a prefix."""
        found = await self.flaps.node(self.router.node_id)
        return next((read.score for read in found if read.subject == name), 0.0)

    async def watch(self) -> None:
        """The loop that closes, once."""
        await watch_of(self.resources).look()


def tier(url: str | None) -> TierSettings:
    return TierSettings.model_validate({"url": url, "deadline": PATIENT})


@asynccontextmanager
async def open_stage(
    database_url: str, directory: Path, kv: str | None = None, cache: str | None = None
) -> AsyncIterator[Stage]:
    """A server on a migrated database, with one node."""
    settings = ControlSettings.model_validate(
        {"database": {"url": database_url}, "state_directory": directory}
    ).model_copy(update={"kv": tier(kv), "cache": tier(cache)})
    clock = HandClock(datetime(2030, 1, 2, 3, 0, tzinfo=UTC))
    async with open_resources(settings, clock) as resources:
        await add_node(resources, "r1")
        router = Router("r1")
        router.begin(["f", "g", "h"], clock() - timedelta(hours=1))
        yield Stage(resources, clock, router)


async def add_node(resources: ControlResources, node_id: str) -> None:
    """A node that is known, if it is not yet."""
    async with resources.database.transaction() as session:
        if await session.get(Node, node_id) is None:
            now = resources.now()
            session.add(Node(id=node_id, maintenance=None, created_at=now, updated_at=now))
