"""`routeloom stack migrate`: the three databases, what a new installation needs, and the first way in."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auth_server.command_ground import has_administrator, make_invitation
from auth_server.resources import open_resources
from auth_server.settings import AuthSettings
from routeloom.stack.errors import StepFailed
from shared.kernel import interrupts
from shared.kernel.files import make_private_directory, write_private
from shared.kernel.principal import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The sign-in service first: the portal is a client of it.
SERVICES = ("auth", "control", "registry")
#: Where a container that speaks for all three services has their settings.
CONFIGURATIONS = Path("/run/secrets")


@dataclass(frozen=True, slots=True)
class Step:
    """One verb of one service, as a process of its own with that service's settings."""

    service: str
    verb: str
    #: Whether the stack can start without it: its worker does it later.
    may_wait: bool = False

    def run(self) -> bool:
        """Whether it went well; what it says goes to this process's output."""
        command = [sys.executable, "-m", f"{self.service}_server", self.verb]
        return subprocess.run(command, env=environment_of(self.service), check=False).returncode == 0  # noqa: S603 - our own program


def steps() -> Iterator[Step]:
    """In this order; each can be done again without harm."""
    for service in SERVICES:
        yield Step(service, "migrate")
        yield Step(service, "seed", may_wait=service == "registry")


def environment_of(service: str, directory: Path = CONFIGURATIONS) -> dict[str, str]:
    """The environment with the settings of this service, where they lie in a file of its own."""
    file = directory / service / "routeloom.toml"
    return os.environ | ({"ROUTELOOM_CONFIG": str(file)} if file.exists() else {})


def prepare() -> None:
    """Raises StepFailed at the first step that the stack cannot start without."""
    for number, step in enumerate(list(steps()), 1):
        typer.echo(f"[{number}/{2 * len(SERVICES)}] {step.service} {step.verb}")
        if step.run():
            if step == Step("auth", "seed"):
                share_portal_secret()
        elif step.may_wait:
            typer.echo(f"{step.service}: not done now; its worker tries again.")
        else:
            raise StepFailed(f"{step.service} {step.verb} failed; what it said stands above.")
    interrupts.run(_welcome())


def share_portal_secret() -> None:
    """Give control the portal's secret, and nothing else of what the sign-in service keeps."""
    places = [os.environ.get(f"ROUTELOOM_{name}_STATE_DIRECTORY") for name in ("AUTH", "CONTROL")]
    if None in places or places[0] == places[1]:
        return
    auth, control = (Path(str(place)) / "secrets" for place in places)
    make_private_directory(control)
    write_private(control / "portal-client", (auth / "portal-client").read_text(encoding="ascii"))


async def _welcome() -> None:
    os.environ.update(environment_of("auth"))
    settings = AuthSettings()
    async with open_resources(settings) as resources:
        if await has_administrator(resources):
            typer.echo("Ready.")
            return
        invitation = await make_invitation(resources, Role.ADMIN)
    typer.echo(
        "\n  Routeloom is prepared. The first administrator makes an account with a passkey, once,"
        f" within a day:\n\n    {invitation}\n"
    )
