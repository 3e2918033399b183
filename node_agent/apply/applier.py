"""Keeps the node at its desired state: pulls, passes, tries again, and works without the controller."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from node_agent.apply.passes import PASS_EVERY, Host, Pass, PassOutcome
from shared.kernel.errors import AppError
from shared.protocol.desired_state.document import PublishedState
from shared.protocol.fleet import ApplyResult, ApplyState, ReconciliationReport

log = structlog.get_logger(__name__)

#: The doorbell may be lost, so the agent asks by itself too.
PULL_SECONDS = 300.0
_FIRST_RETRY_SECONDS = 5.0
_LONGEST_RETRY_SECONDS = 60.0


class Pull(Protocol):
    """Asks for the newest generation."""

    async def __call__(self, known: PublishedState | None) -> PublishedState | None: ...


Report = Callable[[ApplyResult | ReconciliationReport], None]
Snapshot = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Applier:
    """One a node. `ring` is the doorbell; everything else goes by itself."""

    host: Host
    pull: Pull
    report: Report
    after_pass: Snapshot
    pull_seconds: float = PULL_SECONDS
    pass_seconds: float = PASS_EVERY.total_seconds()
    #: What the heartbeat says.
    generation: int | None = None
    state: ApplyState = ApplyState.PENDING
    _bell: asyncio.Event = field(default_factory=asyncio.Event)
    _published: PublishedState | None = None
    _retry: float = _FIRST_RETRY_SECONDS
    _ask_again: float = _FIRST_RETRY_SECONDS
    _told: PassOutcome | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing was ever published for this node."""
        return self._published is None

    def ring(self) -> None:
        """Something may have changed: ask, and pass if it has. What waits to be tried again waits on."""
        self._bell.set()

    async def run(self) -> None:
        """Work until cancelled. Nothing that goes wrong on the host or the way ends it."""
        store = self.host.store
        self._published, self.generation = store.desired(), store.achieved().generation
        clock = asyncio.get_running_loop().time
        # Whether a link ever comes up or not: what is published may be had over HTTP alone.
        ask_at = clock()
        # What is known already need not wait for a controller that may be away.
        pass_at = clock() + (await self._pass() if self._published is not None else 0)
        while True:
            if self._bell.is_set() or clock() >= ask_at:
                self._bell.clear()
                known = self._published
                ask_at = clock() + await self._pulled()
                if self._published != known:
                    pass_at, self._retry = clock(), _FIRST_RETRY_SECONDS
            if clock() >= pass_at:
                pass_at = clock() + await self._pass()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, min(pass_at, ask_at) - clock())):
                    await self._bell.wait()

    async def _pulled(self) -> float:
        """Ask for the newest generation; answers after how long the next question is due."""
        try:
            found = await self.pull(self._published)
        except AppError as error:
            log.info("desired_state.pull_failed", code=error.code, detail=error.detail)
            pause, self._ask_again = self._ask_again, min(self._ask_again * 2, _LONGEST_RETRY_SECONDS)
            return min(pause, self.pull_seconds)
        self._ask_again = _FIRST_RETRY_SECONDS
        if found is not None and found != self._published:
            log.info("desired_state.pulled", generation=found.generation)
            self._published = found
            self._keep(found)
        return self.pull_seconds

    def _keep(self, found: PublishedState) -> None:
        try:
            self.host.store.keep_desired(found)
        except AppError as error:
            # It is applied all the same; only a restart without the controller would miss it.
            log.warning("desired_state.not_kept", detail=error.detail)

    async def _pass(self) -> float:
        """Make one pass; answers after how long the next one is due."""
        if self._published is None:
            return self.pass_seconds
        try:
            outcome = await Pass(self.host, self._published).run()
        except Exception:
            log.exception("apply.crashed", generation=self._published.generation)
            return self.pass_seconds
        self._tell(outcome)
        if outcome.result.actions:
            await self.after_pass()
        if outcome.result.status is ApplyState.FAILED:
            pause, self._retry = self._retry, min(self._retry * 2, _LONGEST_RETRY_SECONDS)
            return min(pause, self.pass_seconds)
        self._retry = _FIRST_RETRY_SECONDS
        return self.pass_seconds

    def _tell(self, outcome: PassOutcome) -> None:
        result, before = outcome.result, self._told
        self.state = result.status
        if result.status is ApplyState.APPLIED:
            self.generation = result.generation
        news = before is None or result.actions or not _same(result, before.result)
        if news:
            self.report(result)
        if before is None or before.drift != outcome.drift or news:
            self.report(
                ReconciliationReport(
                    generation=result.generation, checked_at=result.finished_at, items=outcome.drift
                )
            )
        self._told = outcome


def _same(one: ApplyResult, other: ApplyResult) -> bool:
    ignored = {"started_at", "finished_at", "actions"}
    return one.model_dump(exclude=ignored) == other.model_dump(exclude=ignored)
