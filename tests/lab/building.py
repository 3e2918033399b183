"""A lab: a hub, three routers with agents of their own, and neighbours who are configured by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.integration.agent.apply.routers import Router, eventually, join, router
from tests.lab.hub import PORT, Hub, open_hub, plug_in

OURS = 4242429900
NUMBERS = (1, 2, 3)
#: The router whose generations are on a disk that is soon full.
SMALL = "r2"
#: What makes a host a router.
_ROUTES = {"ipv4/ip_forward": 1, "ipv6/conf/all/forwarding": 1, "ipv4/conf/all/rp_filter": 0}
PAIRS = ((1, 2), (2, 3), (1, 3))
#: Sessions that come back as fast as a test would have it.
FAST = {"timers": {"connect_retry": 1, "error_wait": [1, 2], "hold": 9, "keepalive": 3}}


@dataclass
class Agent:
    """The agent of one router, a process of its own in the router's namespace."""

    router: Router
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    module: str = "node_agent"

    @property
    def log(self) -> str:
        return (self.router.directory / "agent.log").read_text()

    def enrol(self, token: str) -> subprocess.Popen[bytes]:
        return self._program("enrol", token)

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
                [*self.router.place.prefix, sys.executable, "-m", self.module, verb],
                env={**os.environ, **self.environment},
                # Not where BIRD runs: what is relative to a process differs between the two.
                cwd=self.router.directory,
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
    """Everything, by the names of nodes. `kind` is that of all its links."""

    kind: str
    hub: Hub
    nodes: dict[str, Router] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    neighbours: dict[str, Router] = field(default_factory=dict)

    def add_nodes(self, **facts: Any) -> None:
        """Facts of all three routers; their agents enrol and start."""
        enrolling = []
        for number, node in zip(NUMBERS, self.nodes, strict=False):
            routing = {
                "asn": OURS,
                "number": number,
                "loopback4": f"172.20.99.{number}",
                "loopback6": f"fd42:9900::{number}",
                "prefixes4": ["172.20.99.0/26"],
                "prefixes6": ["fd42:9900::/48"],
                "endpoint": self.hub.wires.of(number),
                "region": 41,
                **facts,
            }
            self.hub.want("POST", "/api/v1/nodes", {"node_id": node, "routing": routing})
            token = self.hub.want("POST", "/api/v1/enrolment-tokens", {"node_id": node})["token"]
            enrolling.append(self.agents[node].enrol(token))
        for process in enrolling:
            assert process.wait(60) == 0
        for agent in self.agents.values():
            agent.start()

    def link_nodes(self) -> None:
        """Join every node with every other."""
        for one, other in PAIRS:
            # The sockets of wireguard-go are files, which namespaces share: each end has a name of its own.
            ends = (end_name(self.kind, one, other), end_name(self.kind, other, one))
            body: dict[str, Any] = {"node_a": f"r{one}", "node_b": f"r{other}", "kind": self.kind}
            if self.kind == "plain":
                join(self.nodes[f"r{one}"], self.nodes[f"r{other}"], ends)
            else:
                body["userspace"] = True
            self.hub.want("POST", "/api/v1/links", {**body, "interface_a": ends[0], "interface_b": ends[1]})

    def generation(self, node: str) -> int:
        number: int = self.hub.want("GET", f"/api/v1/nodes/{node}/facts")["generation"]
        return number

    def result(self, node: str) -> dict[str, Any]:
        """What the agent said of its last pass."""
        found: dict[str, Any] = self.hub.want("GET", f"/api/v1/nodes/{node}/observation")["apply_result"]
        return found

    def applied(self, node: str) -> bool:
        """Whether the node runs its newest generation, proven and told."""
        seen = self.hub.want("GET", f"/api/v1/nodes/{node}/observation")
        newest = seen["applied_generation"] == self.generation(node)
        return bool(newest and seen["apply_result"]["status"] == "applied")

    def settle(self, *nodes: str) -> None:
        for node in nodes or self.nodes:
            eventually(partial(self.applied, node), f"{node} runs its newest generation", seconds=90)

    def running(self, node: str) -> str:
        """What BIRD says that it runs."""
        return self.nodes[node].ask("eval RL_CONFIG").splitlines()[-1].strip('"')


def end_name(kind: str, own: int, other: int) -> str:
    """The interface of one router towards another."""
    return f"{'wg' if kind == 'wireguard' else 'eth'}-{own}-{other}"


@contextmanager
def open_lab(
    directory: Path,
    kind: str,
    *,
    family: int = 4,
    neighbours: Sequence[tuple[str, int]],
    recorded: str = "",
) -> Iterator[Lab]:
    """Namespaces, daemons and cables; nothing is configured yet.

    What the recorded node's agent and the server say to one another is kept beside the hub's files.
    """
    with ExitStack() as stack:
        lab = Lab(kind, stack.enter_context(open_hub(directory, family)))
        for number in NUMBERS:
            name = f"r{number}"
            lab.nodes[name] = _plugged(stack, lab.hub, directory, (name, number))
            url = _recorded(stack, lab.hub, lab.nodes[name]) if name == recorded else lab.hub.wires.url
            lab.agents[name] = _agent(url, lab.nodes[name])
            stack.callback(lab.agents[name].stop)
        for name, number in neighbours:
            lab.neighbours[name] = _plugged(stack, lab.hub, directory, (name, number))
        yield lab


@contextmanager
def open_small_lab(directory: Path, neighbour: tuple[str, int]) -> Iterator[Lab]:
    """One router whose agent looks at routes often, and one neighbour, who will have a cable to it."""
    with ExitStack() as stack:
        lab = Lab("plain", stack.enter_context(open_hub(directory)))
        lab.nodes["r1"] = _plugged(stack, lab.hub, directory, ("r1", 1))
        lab.agents["r1"] = _agent(lab.hub.wires.url, lab.nodes["r1"])
        lab.agents["r1"].module = "tests.lab.impatient_agent"
        stack.callback(lab.agents["r1"].stop)
        lab.neighbours[neighbour[0]] = _plugged(stack, lab.hub, directory, neighbour)
        yield lab


def _plugged(stack: ExitStack, hub: Hub, directory: Path, who: tuple[str, int]) -> Router:
    name, number = who
    if name == SMALL:
        place = directory / name / "routeloom"
        place.mkdir(parents=True)
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
        subprocess.run(mount, check=True)
        stack.callback(subprocess.run, ["umount", "--lazy", str(place)], check=True)
    found = stack.enter_context(router(name, number, directory))
    plug_in(hub, found.place, number)
    for switch, value in _ROUTES.items():
        found.place.run("sh", "-c", f"echo {value} > /proc/sys/net/{switch}")
    return found


def _recorded(stack: ExitStack, hub: Hub, found: Router) -> str:
    """A relay at the node itself, which keeps what it passes on."""
    kept = hub.directory / "recorded"
    kept.mkdir()
    relay = [sys.executable, "-m", "tests.lab.recording", str(PORT), hub.wires.hub, str(PORT), str(kept)]
    process = subprocess.Popen([*found.place.prefix, *relay], start_new_session=True)
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)
    return f"http://127.0.0.1:{PORT}"


def _agent(url: str, found: Router) -> Agent:
    home = found.directory
    settings = {
        "SERVER_URL": url,
        "STATE_DIRECTORY": str(home / "agent"),
        "BIRD_SOCKET": str(found.bird.socket),
        "BIRD_DIRECTORY": str(home / "routeloom"),
        "BIRD_LOCAL_DIRECTORY": str(home / "local"),
        "CONFIRM_SECONDS": "10",
        "PASS_SECONDS": "3",
        "PULL_SECONDS": "6",
    }
    variables = {f"ROUTELOOM_AGENT_{name}": value for name, value in settings.items()}
    # Its working directory is not that of the tests, whose modules it is.
    path = os.pathsep.join(filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH"))))
    return Agent(found, {**variables, "PYTHONPATH": path})
