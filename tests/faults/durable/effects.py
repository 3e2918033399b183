"""A system outside that remembers by idempotency key what was done to it, and every try."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Effects:
    """Files in a directory: one for each key, created once, and a log of all attempts."""

    directory: Path

    def apply(self, key: str, content: str) -> bool:
        """Do it unless it was done; another content under the same key is a fault that stays visible."""
        self._append("attempts", f"{key} {os.getpid()}\n")
        try:
            with (self.directory / f"done-{key}").open("x") as done:
                done.write(content)
        except FileExistsError:
            if (self.directory / f"done-{key}").read_text() not in {content, ""}:
                self._append("contradictions", f"{key} {content}\n")
            return False
        return True

    def mark(self, point: str) -> None:
        """Tell the test that this process has reached a point."""
        self._append("marks", f"{point}\n")

    def marks(self) -> list[str]:
        return self._lines("marks")

    def attempts(self) -> list[str]:
        return [line.split()[0] for line in self._lines("attempts")]

    def contradictions(self) -> list[str]:
        return self._lines("contradictions")

    def done(self) -> set[str]:
        return {path.name.removeprefix("done-") for path in self.directory.glob("done-*")}

    def _append(self, name: str, line: str) -> None:
        descriptor = os.open(self.directory / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def _lines(self, name: str) -> list[str]:
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []
