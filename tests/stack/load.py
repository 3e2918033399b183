"""Requests through the proxy without a pause, and what became of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2

#: What people and programs ask for, of each service.
PATHS = (
    "/api/v1/nodes",
    "/auth/jwks.json",
    "/registry/api/v1/status",
    "/auth/.well-known/openid-configuration",
    "/api/v1/tiers",
)
_PAUSE = 0.2
_PATIENCE = 15


@dataclass
class Load:
    """A caller that goes on asking; `taken` gives what was answered since it was last called."""

    url: str
    token: str
    _answers: list[tuple[str, str]] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._ask, name="load")
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(2 * _PATIENCE)

    def _ask(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx2.Client(base_url=self.url, headers=headers, timeout=_PATIENCE) as client:
            while not self._stop.is_set():
                for path in PATHS:
                    try:
                        answer = str(client.get(path).status_code)
                    except httpx2.TransportError as error:
                        answer = type(error).__name__
                    with self._lock:
                        self._answers.append((path, answer))
                    time.sleep(_PAUSE)

    def taken(self) -> Counter[str]:
        """Answers since the last call, counted; 200s together, the others by path."""
        with self._lock:
            answers, self._answers = self._answers, []
        return Counter(answer if answer == "200" else f"{answer} {path}" for path, answer in answers)

    def await_rounds(self, rounds: int, seconds: float = 120) -> Counter[str]:
        """Everything answered until every path was asked so often again."""
        deadline = time.monotonic() + seconds
        found: Counter[str] = Counter()
        while sum(found.values()) < rounds * len(PATHS):
            assert time.monotonic() < deadline, "the load stands still"
            time.sleep(0.1)
            found += self.taken()
        return found
