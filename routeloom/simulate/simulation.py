"""The simulation: turn the clock, let happen what happens, let the agents report, compare."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

import httpx2

from routeloom.simulate.agent import SimulatedAgent
from routeloom.simulate.comparison import Comparison, Finding
from routeloom.simulate.course import Act, Step, apply, course
from routeloom.simulate.enrolling import enrol
from routeloom.simulate.node import SimulatedNode
from routeloom.simulate.plan import TICK, Fault, Plan, schedule
from routeloom.simulate.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from routeloom.simulate.server import Clock, OwnServer

#: Seconds of the simulation between two looks at what the server says of health.
LOOK_EVERY = 600
_SECONDS = 60


class Pace(Protocol):
    """How time passes."""

    async def reach(self, at: datetime) -> None:
        """Return when it is this instant."""

    async def restart(self) -> None:
        """Restart the server, where it is ours."""


@dataclass
class TurnedClock:
    """Time of our own server: as fast as it keeps up, or so many times faster than time goes."""

    clock: Clock
    server: OwnServer
    speed: float = 0.0

    async def reach(self, at: datetime) -> None:
        """Turn the clock, after what is due at the end of each of its ticks and minutes."""
        await self.server.watch()
        if self.clock.at.second == 0:
            await self.server.minute()
        if self.speed > 0:
            await asyncio.sleep((at - self.clock.at).total_seconds() / self.speed)
        self.clock.at = at

    async def restart(self) -> None:
        """Stop and start our server."""
        await self.server.restart()


@dataclass
class PassingTime:
    """Time as it passes, for a server that is not ours."""

    async def reach(self, at: datetime) -> None:
        """Wait for it."""
        await asyncio.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds()))

    async def restart(self) -> None:
        """Another's server is left alone."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server is, and the token to ask it with."""

    url: str
    token: str


@dataclass
class Simulation:
    """One run of a plan against one server."""

    plan: Plan
    place: Place
    pace: Pace
    #: What befalls whom; None: what the plan's dice say.
    faults: Sequence[Fault] | None = None
    #: Called at the end of each tick with its second.
    told: Callable[[int], Awaitable[None]] | None = None
    truth: Truth = field(default_factory=Truth)
    nodes: list[SimulatedNode] = field(default_factory=list)
    agents: list[SimulatedAgent] = field(default_factory=list)

    async def run(self) -> list[Finding]:
        """Everything from the enrolment to the last comparison."""
        headers = {"Authorization": f"Bearer {self.place.token}"}
        async with httpx2.AsyncClient(
            base_url=self.place.url, headers=headers, timeout=_SECONDS, trust_env=False
        ) as api:
            await self._enrol(api)
            comparison = Comparison(self.plan, self.truth, api)
            await self._play(comparison)
            await comparison.look_at_the_end(self.nodes, [r for agent in self.agents for r in agent.refused])
            for agent in self.agents:
                await agent.stop()
        return comparison.findings

    async def _enrol(self, api: httpx2.AsyncClient) -> None:
        for index in range(self.plan.nodes):
            node = SimulatedNode(self.plan, index, self.truth)
            token = await enrol(api, node.name)
            self.nodes.append(node)
            self.agents.append(SimulatedAgent(node, token, self.place.url))

    async def _play(self, comparison: Comparison) -> None:
        faults = schedule(self.plan) if self.faults is None else self.faults
        steps = course(self.plan, faults)
        for at in range(0, self.plan.seconds + 1, TICK):
            await self.pace.reach(self.plan.start + timedelta(seconds=at))
            while steps and steps[0].at <= at:
                await self._do(steps.pop(0), at)
            for node in self.nodes:
                node.flow()
            await asyncio.gather(*(agent.report(at) for agent in self.agents if agent.runs))
            if at % LOOK_EVERY == 0 and at:
                await comparison.look_at_health(self.nodes, at)
            if self.told is not None:
                await self.told(at)

    async def _do(self, step: Step, at: int) -> None:
        if step.act is Act.SERVER_RESTARTED:
            await self.pace.restart()
            return
        apply(step, self.nodes[step.node])
        agent = self.agents[step.node]
        match step.act:
            case Act.AGENT_CUT:
                await agent.cut()
            case Act.AGENT_STOPPED:
                # Its socket closes now, however early in this tick it was stopped: so long it was heard.
                self.truth.silent_since[agent.node.name] = at
                await agent.stop()
            case Act.AGENT_STARTED:
                agent.runs = True
