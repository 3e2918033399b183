"""Routers of other networks that are no BIRD: what our portal tells their operators is pasted into them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from shared.testing.servers.process import ServerMissing, find_program
from tests.integration.agent.apply.routers import eventually
from tests.journeys.namespaces import Namespace

#: Whose router it is, and what it gives away.
ASN = 4242429801
OWN4, OWN6 = "172.21.81.0/27", "fd42:9801::/48"


class Foreign(Protocol):
    """One router of another network."""

    def paste(self, texts: dict[str, str]) -> None:
        """Begin the session as its operator would."""

    def knows(self, prefix: str) -> bool:
        """Whether it has a route to the prefix from us."""

    def log(self) -> str:
        """What it says of itself, for a test that failed."""


@dataclass
class Frr:
    """Debian's FRR: zebra, which knows the interfaces, and bgpd."""

    place: Namespace
    home: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        shutil.chown(self.home, "frr", "frr")
        for name in ("zebra", "bgpd"):
            file = self.home / f"{name}.conf"
            file.write_text("frr defaults traditional\nlog stdout\n")
            command = [
                _frr_program(name),
                *("-f", str(file), "-i", str(self.home / f"{name}.pid"), "-u", "frr", "-g", "frr"),
                *("-z", str(self.home / "zserv.api"), "--vty_socket", str(self.home), "-P", "0"),
            ]
            self.running.append(_spawned(self.place, command, self.home / f"{name}.log"))
            eventually((self.home / f"{name}.vty").exists, f"{name} answers")
        base = self.home / "base.conf"
        base.write_text(
            f"router bgp {ASN}\n bgp router-id 172.21.81.1\n no bgp network import-check\n"
            f" address-family ipv4 unicast\n  network {OWN4}\n exit-address-family\n"
            f" address-family ipv6 unicast\n  network {OWN6}\n exit-address-family\nexit\n"
        )
        self._vtysh("-f", str(base))

    def paste(self, texts: dict[str, str]) -> None:
        text = texts["frr"]
        assert checked_by_frr(text, self.home) == ""
        file = self.home / "pasted.conf"
        file.write_text(text + "\n")
        self._vtysh("-f", str(file))
        # A neighbour who tries again sooner than FRR does by itself.
        for line in text.splitlines():
            if "remote-as" in line:
                at = line.split()[1]
                self._vtysh(
                    *("-c", "configure", "-c", f"router bgp {ASN}", "-c", f"neighbor {at} timers connect 1")
                )

    def knows(self, prefix: str) -> bool:
        family = "ipv6" if ":" in prefix else "ipv4"
        said = json.loads(self._vtysh("-c", f"show bgp {family} unicast {prefix} json") or "{}")
        return any(path.get("valid") for path in said.get("paths", []))

    def log(self) -> str:
        return self._vtysh("-c", "show running-config") + self._vtysh("-c", "show bgp summary")

    def _vtysh(self, *arguments: str) -> str:
        vtysh = find_program("vtysh", "frr")
        done = subprocess.run(
            [*self.place.prefix, vtysh, "--vty_socket", str(self.home), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@dataclass
class OpenBgpd:
    """Debian's OpenBGPD."""

    place: Namespace
    home: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """It starts with its configuration, because a paste is a line at the end of it."""

    def paste(self, texts: dict[str, str]) -> None:
        file = self.home / "bgpd.conf"
        file.write_text(
            f"AS {ASN}\nrouter-id 172.21.81.1\nfib-update no\n"
            f'socket "{self.home}/bgpd.sock"\nnetwork {OWN4}\nnetwork {OWN6}\n{texts["openbgpd"]}\n'
        )
        file.chmod(0o600)
        bgpd = find_program("bgpd", "openbgpd")
        checked = subprocess.run(
            [*self.place.prefix, bgpd, "-n", "-f", str(file)], capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stderr
        # It locks itself into a directory that its unit makes; here in a /run of its own.
        start = "mount -t tmpfs none /run && mkdir -m 755 /run/openbgpd && exec"
        command = ["sh", "-c", f'{start} "$0" -d -v -f "$1"', bgpd, str(file)]
        self.running.append(_spawned(self.place, command, self.home / "bgpd.log"))

    def knows(self, prefix: str) -> bool:
        rows = [line.split() for line in self._bgpctl("show", "rib", prefix).splitlines()]
        return any(prefix in row and "*>" in row[0] and "::" not in row for row in rows)

    def log(self) -> str:
        return (self.home / "bgpd.log").read_text() + self._bgpctl("show", "neighbor")

    def _bgpctl(self, *arguments: str) -> str:
        bgpctl = find_program("bgpctl", "openbgpd")
        done = subprocess.run(
            [*self.place.prefix, bgpctl, "-s", str(self.home / "bgpd.sock"), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout


def checked_by_frr(text: str, directory: Path) -> str:
    """What FRR says of a text; nothing where it takes it."""
    file = directory / "checked.conf"
    file.write_text(text + "\n")
    done = subprocess.run(
        [find_program("vtysh", "frr"), "-C", "-f", str(file)], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@contextmanager
def foreign_router(kind: str, place: Namespace) -> Iterator[Foreign]:
    """One that runs until the test is over."""
    # Not in the test's own directory, which root alone may enter: both programs give their rights away.
    with tempfile.TemporaryDirectory(prefix="routeloom-router-") as directory:
        home = Path(directory)
        home.chmod(0o755)
        made = Frr(place, home) if kind == "frr" else OpenBgpd(place, home)
        try:
            made.start()
            yield made
        finally:
            for process in reversed(made.running):
                process.terminate()
            for process in made.running:
                process.wait(30)


def _frr_program(name: str) -> str:
    found = shutil.which(name, path="/usr/lib/frr:/usr/libexec/frr")
    if found is None:
        raise ServerMissing(name, "frr")
    return found


def _spawned(place: Namespace, command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as to:
        return subprocess.Popen(
            [*place.prefix, *command], stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.STDOUT
        )
