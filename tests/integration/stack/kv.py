"""Servers as the stack starts them: the shipped files, the shipped access lists, the shipped start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from routeloom.stack.files import access_list
from routeloom.stack.passwords import Passwords, load_or_make
from shared.testing.servers.process import ServerProcess, find_program
from tests.stack.engine import COMPOSE

PROGRAMS = {"valkey": "valkey-server", "valkey-state": "valkey-server", "redis": "redis-server"}


@dataclass(frozen=True)
class Said:
    status: int
    text: str


class ListedServer(ServerProcess):
    """One of the three, with users and passwords."""

    def __init__(self, name: str, directory: Path, passwords: Passwords, configuration: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory / "server.log")
        self.name, self.directory, self.passwords = name, directory, passwords
        self.configuration = configuration
        template = (COMPOSE / "acl" / f"{name}.acl").read_text()
        (directory / "users.acl").write_text(access_list(template, name, passwords))
        self.executable = find_program(PROGRAMS[name], PROGRAMS[name])

    def command(self) -> Sequence[str]:
        return [self.executable, *self.arguments()]

    def arguments(self) -> list[str]:
        """What compose.yaml says, but for the address."""
        return [
            *(str(self.configuration), "--port", str(self.port), "--dir", str(self.directory)),
            *("--aclfile", str(self.directory / "users.acl")),
        ]

    def answers(self) -> bool:
        return self.say("operator", "ping").text == "PONG"

    def say(self, user: str, *words: str, database: int = 0) -> Said:
        """What the server's own command line prints for this user."""
        program = PROGRAMS[self.name].replace("server", "cli")
        command = [program, "-p", str(self.port), "-n", str(database), "--user", user, *words]
        password = {"REDISCLI_AUTH": self.passwords.of(self.name, user)}
        done = subprocess.run(command, env=os.environ | password, capture_output=True, text=True, check=False)
        return Said(done.returncode, (done.stdout + done.stderr).strip())

    def url(self, user: str, database: int) -> str:
        return f"redis://{user}:{self.passwords.of(self.name, user)}@127.0.0.1:{self.port}/{database}"


@contextmanager
def listed_server(name: str, directory: Path, configuration: Path | None = None) -> Iterator[ListedServer]:
    """A running one; its passwords are kept beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    passwords = load_or_make(directory / "passwords.json")
    server = ListedServer(name, directory, passwords, configuration or COMPOSE / f"{name}.conf")
    server.start_first()
    try:
        yield server
    finally:
        server.kill()
