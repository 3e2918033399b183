"""What a person at the terminal is told: the ways in at once, the rest when all of it runs."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from routeloom.lite.home import default_home

if TYPE_CHECKING:
    from fastapi import FastAPI

    from routeloom.lite.configuration import Addresses
    from routeloom.lite.home import Home


@dataclass(frozen=True, slots=True)
class WaysIn:
    """How a person gets in."""

    addresses: Addresses
    port: int
    link: str = field(repr=False)
    #: How `routeloom` is called for this state directory, ready to paste.
    command: str

    def __str__(self) -> str:
        """The lines that say so."""
        lines = [
            "",
            "  Routeloom Lite runs.",
            "",
            f"  Portal        {self.addresses.public}",
            f"  Sign in       {self.link}",
            f"                once, within ten minutes; a new one: {self.command} control session-link",
        ]
        if not self.addresses.behind_proxy:
            lines.append(f"  From afar     ssh -L {self.port}:localhost:{self.port} {socket.gethostname()}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Running:
    """What runs once everything does; the invitation is empty once there is an administrator."""

    invitation: str = field(repr=False)
    agent: str
    registry: str
    home: Home
    command: str

    def __str__(self) -> str:
        """The lines that say so."""
        invitation = [
            f"  Invitation    {self.invitation}",
            "                makes the first administrator, with a passkey; once, within a day",
        ]
        return "\n".join(
            [
                *(invitation if self.invitation else ()),
                f"  Agent         {self.agent}",
                f"  Registry      {self.registry}",
                f"  State         {self.home.root}",
                f"  API token     {self.home.admin_token}",
                "",
                f"  Try           {self.command} probe ping --node demo 127.0.0.1",
                "  Stop          Ctrl-C (the agent goes on and is adopted by the next start)",
                "",
            ]
        )


def command_for(home: Home) -> str:
    """`routeloom` as it can be typed here: by its path unless it is on PATH, with the home it needs."""
    program = Path(sys.argv[0])
    found = shutil.which("routeloom")
    called = "routeloom"
    if program.name != "routeloom":
        called = f"{sys.executable} -m routeloom"
    elif found is None or Path(found).resolve() != program.resolve():
        called = os.path.relpath(program) if program.is_relative_to(Path.cwd()) else str(program)
    usual = home.root == default_home() and "ROUTELOOM_HOME" not in os.environ
    return called if usual else f"ROUTELOOM_HOME={shlex.quote(str(home.root))} {called}"


async def protocol_ports(registry: FastAPI) -> str:
    """Where whois clients and routers find the registry; a port that another program holds is not served."""
    told = []
    for name, port in registry.state.ports.items():
        if port.settings.port is not None:
            await port.tried()
            why = f"port {port.settings.port} is in use" if port.held else "which the log explains"
            told.append(f"{name} on port {port.port}" if port.port else f"{name} not served, {why}")
    return "; ".join(told) or "whois and RTR are switched off"
