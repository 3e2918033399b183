"""Failed authentications of clients, counted in this process, and the secret files of our own clients."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from auth_server.sessions.rules import place_of
from shared.kernel.files import make_private_directory, write_private
from shared.kernel.secrets import mint

_WINDOW = timedelta(minutes=5)
_MOST_FAILURES = 20
_MOST_ENTRIES = 10_000
_PREFIX = "rlk"


@dataclass(slots=True)
class FailedSecrets:
    """Wrong secrets of one client from one address (IPv6: one /64). Nobody locks it out elsewhere."""

    _failures: OrderedDict[tuple[str, str], tuple[datetime, int]] = field(default_factory=OrderedDict)

    def wait(self, client_id: str, address: str, at: datetime) -> timedelta | None:
        """How long no further attempt is looked at; None for not at all."""
        if not self._failures:
            return None
        began, count = self._failures.get((client_id, place_of(address)), (at, 0))
        left = began + _WINDOW - at
        return left if count >= _MOST_FAILURES and left > timedelta(0) else None

    def note(self, client_id: str, address: str, at: datetime) -> None:
        """One more attempt failed."""
        key = (client_id, place_of(address))
        began, count = self._failures.pop(key, (at, 0))
        if at - began >= _WINDOW:
            began, count = at, 0
        self._failures[key] = (began, count + 1)
        if len(self._failures) > _MOST_ENTRIES:
            self._failures.popitem(last=False)


def load_or_make_secret(path: Path) -> str:
    """The secret in a file that only its owner reads; made at the first time."""
    if not path.exists():
        make_private_directory(path.parent)
        write_private(path, f"{mint(_PREFIX).text}\n")
    return path.read_text(encoding="ascii").strip()
