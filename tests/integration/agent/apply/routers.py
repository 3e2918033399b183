"""Routers in network namespaces of our own: each with a BIRD, joined by veth pairs or WireGuard over them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from node_agent.apply.keys import OwnKeys, load_keys
from node_agent.bird.times import Since, take_since
from shared.protocol.desired_state.document import DesiredState, PublishedState
from shared.protocol.fleet import ApplyResult, DriftItem, RuntimeSnapshot
from shared.testing.servers.bird import BirdServer
from tests.journeys.namespaces import Namespace, namespace

FIRST = """router id 172.20.0.{number};
protocol device rl_device {{ }}
"""


def eventually(condition: Callable[[], bool], what: str, *, seconds: float = 40) -> None:
    """Wait for a condition of the world outside, which has no event to wait for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(0.05)


@dataclass(frozen=True)
class Outcome:
    """What a pass said."""

    result: ApplyResult
    drift: list[DriftItem]

    @property
    def errors(self) -> list[tuple[str, str]]:
        return [(error.step, error.code) for error in self.result.errors]


@dataclass
class Router:
    """One router: a namespace, a directory, a daemon."""

    name: str
    place: Namespace
    directory: Path
    bird: BirdServer
    generation: int = 0
    _keys: list[OwnKeys] = field(default_factory=list)

    @property
    def keys(self) -> OwnKeys:
        if not self._keys:
            self._keys.append(load_keys(self.directory / "state"))
        return self._keys[0]

    def apply(self, state: DesiredState, *, again: bool = False) -> Outcome:
        """One pass over a new generation, or once more over the present one."""
        self.generation += 0 if again else 1
        published = PublishedState(generation=self.generation, sha256=state.digest, state=state)
        said = json.loads(self._program("pass", published.model_dump_json()))
        drift = [DriftItem.model_validate(item) for item in said["drift"]]
        return Outcome(ApplyResult.model_validate(said["result"]), drift)

    def snapshot(self) -> RuntimeSnapshot:
        return RuntimeSnapshot.model_validate_json(self._program("snapshot", ""))

    def ask(self, command: str) -> str:
        """What `birdc` prints."""
        done = subprocess.run(
            ["birdc", "-s", str(self.bird.socket), command], capture_output=True, text=True, check=False
        )
        return done.stdout

    def established(self, session: str) -> bool:
        return "Established" in self.ask(f'show protocols "{session}"')

    def wait_for(self, session: str) -> None:
        eventually(lambda: self.established(session), f"{session} Established on {self.name}")

    def since(self, session: str) -> Since:
        """Since when the session is in its state."""
        shown = self.ask(f'show protocols "{session}"').splitlines()
        rows = [line for line in shown if line.startswith(session)]
        assert rows, f"{session} is not there"
        return take_since(rows[0].split()[4:], datetime.now().astimezone())[0]

    def _program(self, verb: str, stdin: str) -> str:
        program = [sys.executable, "-m", "tests.integration.agent.apply.one_pass", verb, str(self.directory)]
        done = subprocess.run(
            [*self.place.prefix, *program], input=stdin, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[-1]


@contextmanager
def router(name: str, number: int, directory: Path) -> Iterator[Router]:
    """A router that boots with nothing but its id, as a fresh installation does."""
    home = directory / name
    (home / "state").mkdir(parents=True, mode=0o700)
    (home / "routeloom" / "gen").mkdir(parents=True)
    (home / "local").mkdir()
    first = home / "routeloom" / "gen" / "none"
    first.mkdir()
    (first / "main.conf").write_text(FIRST.format(number=number))
    (home / "routeloom" / "current").symlink_to("gen/none")
    boot = home / "bird.conf"
    boot.write_text(f'include "{home}/routeloom/current/main.conf";\n')
    with namespace(name) as place:
        bird = BirdServer(home, boot, place.name)
        bird.start()
        try:
            yield Router(name, place, home, bird)
        finally:
            if bird.running:
                bird.stop()
            _end_tunnels(place)


def join(one: Router, other: Router, ends: tuple[str, str], addresses: tuple[str, str] | None = None) -> None:
    """A cable between two routers, with an address at each end where a tunnel needs one under it."""
    subprocess.run(
        [
            *("ip", "link", "add", "dev", ends[0], "netns", one.place.name, "type", "veth"),
            *("peer", "name", ends[1], "netns", other.place.name),
        ],
        check=True,
    )
    for side, end, index in ((one, ends[0], 0), (other, ends[1], 1)):
        side.place.run("ip", "link", "set", "dev", end, "addrgenmode", "none")
        side.place.run("ip", "link", "set", "dev", end, "up")
        if addresses is not None:
            side.place.run("ip", "address", "add", addresses[index], "dev", end)


def desired(number: int, asn: int, **parts: Any) -> DesiredState:
    """A small node: what a test leaves out has the schema's own values."""
    node = {
        "id": f"r{number}",
        "number": number,
        "asn": asn,
        "router_id": f"172.20.99.{number}",
        "loopback4": f"172.20.99.{number}",
        "loopback6": f"fd42:9900::{number}",
        **parts.pop("node", {}),
    }
    return DesiredState.model_validate({"node": node, "roa": {"mode": "off"}, **parts})


def _end_tunnels(place: Namespace) -> None:
    """wireguard-go ends with its interface."""
    found = subprocess.run(
        [*place.prefix, "ip", "-json", "link", "show"], capture_output=True, text=True, check=False
    )
    for entry in json.loads(found.stdout or "[]"):
        if entry["ifname"].startswith("wg"):
            place.run("ip", "link", "delete", "dev", entry["ifname"])
