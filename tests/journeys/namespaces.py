"""Network namespaces of our own, with nothing but loopback in them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Namespace:
    """A place apart; `prefix` runs a command there."""

    name: str

    @property
    def prefix(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]

    def run(self, *command: str) -> str:
        done = subprocess.run([*self.prefix, *command], check=True, capture_output=True, text=True)
        return done.stdout


@contextmanager
def namespace(name: str = "") -> Iterator[Namespace]:
    """One namespace; several of one test differ by their names."""
    made = Namespace(f"routeloom-{os.getpid()}{name and f'-{name}'}")
    subprocess.run(["ip", "netns", "add", made.name], check=True)
    try:
        made.run("ip", "link", "set", "lo", "up")
        yield made
    finally:
        subprocess.run(["ip", "netns", "delete", made.name], check=True)
