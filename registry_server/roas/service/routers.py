"""What routers are told: everything, or what changed since the serial that they have."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from registry_server.roas.rules import pdus
from registry_server.roas.rules.history import History
from registry_server.roas.schemas import RoaSet, RtrSettings
from shared.kernel.clock import Clock

_SESSIONS = 1 << 16
_SERIALS = 1 << 32


@dataclass(slots=True)
class RouterCache:
    """One for a process.

    The session is random, and the first serial is the time of the start in seconds. There is less than one
    change a second, so even a session that is drawn twice never meets a serial that was used in it before.
    """

    settings: RtrSettings
    now: Clock
    fresh: Callable[[], bool]
    session: int = field(default_factory=lambda: secrets.randbelow(_SESSIONS))
    _history: History | None = None
    #: Version → all prefix PDUs, made once a serial and version.
    _whole: dict[int, bytes] = field(default_factory=dict)
    _listeners: set[Callable[[], None]] = field(default_factory=set)

    @property
    def serial(self) -> int | None:
        """The current serial; None while there is nothing to tell."""
        return self._history.serial if self._history and self.fresh() else None

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have the listener called after each change."""
        self._listeners.add(listener)

    def take(self, made: RoaSet) -> None:
        """Take over a new set; the serial rises where it differs."""
        if self._history is None:
            start = int(self.now().timestamp()) % _SERIALS
            self._history = History(start, frozenset(made.roas), self.settings.history)
        elif not self._history.advance(made.roas):
            return
        self._whole = {}
        for listener in self._listeners:
            listener()

    def everything(self, version: int) -> bytes | None:
        """The answer to a Reset Query, or None where there is no data."""
        history, serial = self._history, self.serial
        if history is None or serial is None:
            return None
        whole = self._whole.get(version)
        if whole is None:
            body = pdus.prefix_pdus(sorted(history.roas), version, announced=True)
            whole = self._whole[version] = self._framed(version, serial, body)
        return whole

    def since(self, version: int, session: int, serial: int) -> bytes | None:
        """The answer to a Serial Query: the difference, or Cache Reset; None where there is no data."""
        history, current = self._history, self.serial
        if history is None or current is None:
            return None
        change = history.since(serial) if session == self.session else None
        if change is None:
            return pdus.cache_reset(version)
        # Announced first: for no moment is a route invalid whose ROA was replaced by another.
        body = pdus.prefix_pdus(sorted(change.announced), version, announced=True)
        body += pdus.prefix_pdus(sorted(change.withdrawn), version, announced=False)
        return self._framed(version, current, body)

    def notify(self, version: int) -> bytes | None:
        """Serial Notify, or None where there is no data."""
        serial = self.serial
        return None if serial is None else pdus.serial_notify(version, self.session, serial)

    def _framed(self, version: int, serial: int, body: bytes) -> bytes:
        settings = self.settings
        intervals = pdus.Intervals(
            refresh=int(settings.refresh.total_seconds()),
            retry=int(settings.retry.total_seconds()),
            expire=int(settings.expire.total_seconds()),
        )
        end = pdus.end_of_data(version, self.session, serial, intervals)
        return pdus.cache_response(version, self.session) + body + end
