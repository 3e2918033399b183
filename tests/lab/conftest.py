"""The lab is built once for all its tests, which tell one story in their order."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.integration.agent.apply.routers import Router, eventually, router
from tests.lab.hub import URL, Hub, open_hub, plug_in

NUMBERS = (1, 2, 3)
OURS = 4242429900


@dataclass
class Agent:
    """The agent of one router, a process of its own in the router's namespace."""

    router: Router
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def enrol(self, token: str) -> None:
        self._program("enrol", token).wait(60)

    def start(self) -> None:
        self.process = self._program("run", "")

    def stop(self, *, at_once: bool = False) -> None:
        if self.process is not None:
            self.process.kill() if at_once else self.process.terminate()
            self.process.wait(30)
            self.process = None

    def _program(self, verb: str, stdin: str) -> subprocess.Popen[bytes]:
        with (self.router.directory / "agent.log").open("ab") as log:
            process = subprocess.Popen(
                [*self.router.place.prefix, sys.executable, "-m", "node_agent", verb],
                env={**os.environ, **self.environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert process.stdin is not None
        process.stdin.write(stdin.encode())
        process.stdin.close()
        return process


@dataclass
class Lab:
    """Everything, by the names of nodes."""

    hub: Hub
    nodes: dict[str, Router]
    agents: dict[str, Agent]
    neighbour: Router

    def generation(self, node: str) -> int:
        number: int = self.hub.want("GET", f"/api/v1/nodes/{node}/facts")["generation"]
        return number

    def applied(self, node: str) -> bool:
        """Whether the node runs its newest generation, proven and told."""
        seen = self.hub.want("GET", f"/api/v1/nodes/{node}/observation")
        return bool(seen["applied_generation"] == self.generation(node))

    def settle(self) -> None:
        for node in self.nodes:
            eventually(partial(self.applied, node), f"{node} runs its newest generation", seconds=90)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    directory = tmp_path_factory.mktemp("lab")
    with ExitStack() as stack:
        hub = stack.enter_context(open_hub(directory))
        nodes = {f"r{n}": stack.enter_context(router(f"r{n}", n, directory)) for n in NUMBERS}
        neighbour = stack.enter_context(router("f", 9, directory))
        for number, place in (*((n, nodes[f"r{n}"].place) for n in NUMBERS), (9, neighbour.place)):
            plug_in(hub, place, number)
        agents = {name: _agent(found) for name, found in nodes.items()}
        for agent in agents.values():
            stack.callback(agent.stop)
        yield Lab(hub, nodes, agents, neighbour)


def _agent(found: Router) -> Agent:
    home = found.directory
    settings = {
        "SERVER_URL": URL,
        "STATE_DIRECTORY": str(home / "agent"),
        "BIRD_SOCKET": str(found.bird.socket),
        "BIRD_DIRECTORY": str(home / "routeloom"),
        "BIRD_LOCAL_DIRECTORY": str(home / "local"),
        "CONFIRM_SECONDS": "20",
        "PASS_SECONDS": "3",
        "PULL_SECONDS": "30",
    }
    return Agent(found, {f"ROUTELOOM_AGENT_{name}": value for name, value in settings.items()})


def log_of(directory: Path) -> str:
    """The end of an agent's log, for whoever wonders."""
    return "\n".join((directory / "agent.log").read_text().splitlines()[-30:])
