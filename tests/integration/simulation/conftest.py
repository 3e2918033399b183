"""A control server of the simulation's own, with a clock that is turned by hand."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import structlog

from routeloom.simulate.comparison import Finding
from routeloom.simulate.plan import Plan
from routeloom.simulate.server import Clock, OwnServer
from routeloom.simulate.simulation import Place, Simulation, TurnedClock

Opening = Callable[..., AbstractAsyncContextManager["Stage"]]


@dataclass(frozen=True)
class Stage:
    """A server and a simulation that has not begun."""

    server: OwnServer
    simulation: Simulation


@pytest.fixture(autouse=True)
def told_in_short(logs_as_before: None) -> None:
    """Thousands of reports are taken as they should be: writing a line of each took a tenth of the time."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


@pytest.fixture
def opened(tmp_path: Path) -> Opening:
    @asynccontextmanager
    async def opening(plan: Plan, settings: Mapping[str, Any] | None = None) -> AsyncIterator[Stage]:
        clock = Clock(plan.start)
        # Each has a database of its own.
        directory = Path(mkdtemp(dir=tmp_path))
        async with OwnServer(directory, clock, settings or {}) as server:
            place = Place(server.url, server.token)
            yield Stage(server, Simulation(plan, place, TurnedClock(clock, server)))

    return opening


def differing(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.agrees]
