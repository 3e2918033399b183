"""A circuit breaker: a dead tier costs its callers microseconds and no socket."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.kernel.clock import Clock, utc_now


class BreakerState(StrEnum):
    """Closed lets every call through, open none, half-open one on trial."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Ticket(StrEnum):
    """What a call was admitted as; handed back when it ends."""

    REFUSED = "refused"
    NORMAL = "normal"
    TRIAL = "trial"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When to open, and how long to stay so."""

    consecutive_failures: int = 5
    #: Of the last `window` calls, so many failing open it too: a tier that answers every other call.
    window: int = 40
    window_failures: int = 20
    cool_down: timedelta = timedelta(seconds=1)
    #: Doubled after each failed trial up to this: one caller waits out the deadline for every trial.
    longest_cool_down: timedelta = timedelta(seconds=5)
    jitter: float = 0.25


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of state, for people to read."""

    at: datetime
    state: BreakerState
    reason: str


class Breaker:
    """Counts outcomes and decides who may try. Not a call is made here, and no task runs."""

    def __init__(
        self,
        policy: BreakerPolicy | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Clock = utc_now,
        changed: Callable[[BreakerState, str], None] = lambda _state, _reason: None,
    ) -> None:
        self._policy = policy or BreakerPolicy()
        self._monotonic = monotonic
        self._clock = clock
        self._changed = changed
        self._recent: deque[bool] = deque(maxlen=self._policy.window)
        self._failures = 0
        self._retry_at = 0.0
        self._cool_down = self._policy.cool_down
        self._on_trial = False
        self.state = BreakerState.CLOSED
        self.history: deque[Transition] = deque(maxlen=50)

    def admit(self) -> Ticket:
        """Ask to make a call; the ticket must be settled unless it is refused."""
        if self.state is BreakerState.CLOSED:
            return Ticket.NORMAL
        if self._on_trial or self._monotonic() < self._retry_at:
            return Ticket.REFUSED
        self._on_trial = True
        self._enter(BreakerState.HALF_OPEN, "trial")
        return Ticket.TRIAL

    def succeeded(self, ticket: Ticket) -> None:
        """The server answered."""
        if ticket is Ticket.TRIAL:
            self.recover("trial_answered")
        elif self.state is BreakerState.CLOSED:
            self._failures = 0
            self._recent.append(True)

    def failed(self, ticket: Ticket, reason: str) -> None:
        """The server did not answer."""
        if ticket is Ticket.TRIAL:
            self._on_trial = False
            self._open(reason)
        elif self.state is BreakerState.CLOSED:
            self._failures += 1
            self._recent.append(False)
            if self._failures >= self._policy.consecutive_failures or self._mostly_failing():
                self._open(reason)

    def abandoned(self, ticket: Ticket) -> None:
        """The caller left before the answer: that says nothing about the server."""
        if ticket is Ticket.TRIAL:
            self._on_trial = False
            self._enter(BreakerState.OPEN, "trial_abandoned")

    def recover(self, reason: str) -> None:
        """The tier is known to answer, by a trial or by the prober."""
        self._on_trial = False
        self._cool_down = self._policy.cool_down
        self._failures = 0
        self._recent.clear()
        if self.state is not BreakerState.CLOSED:
            self._enter(BreakerState.CLOSED, reason)

    def _mostly_failing(self) -> bool:
        return self._recent.count(False) >= self._policy.window_failures

    def _open(self, reason: str) -> None:
        spread = random.uniform(-self._policy.jitter, self._policy.jitter)  # noqa: S311 - not a secret
        self._retry_at = self._monotonic() + self._cool_down.total_seconds() * (1 + spread)
        self._cool_down = min(self._cool_down * 2, self._policy.longest_cool_down)
        self._failures = 0
        self._recent.clear()
        self._enter(BreakerState.OPEN, reason)

    def _enter(self, state: BreakerState, reason: str) -> None:
        if state is self.state:
            return
        self.state = state
        self.history.append(Transition(self._clock(), state, reason))
        self._changed(state, reason)
