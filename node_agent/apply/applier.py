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
_UNRUNG_SECONDS = 30.0
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
    _told: PassOutcome | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing was ever published for this node."""
        return self._published is None

    def ring(self) -> None:
        """Something changed: pull, then pass."""
        self._bell.set()

    async def run(self) -> None:
        """Work until cancelled. Nothing that goes wrong on the host or the way ends it."""
        self._published = self.host.store.desired()
        self.generation = self.host.store.achieved().generation
        loop = asyncio.get_running_loop()
        # The link rings when it is up; where it never comes up, the first question comes soon.
        asked = loop.time() - self.pull_seconds + _UNRUNG_SECONDS
        while True:
            if self._bell.is_set() or loop.time() - asked >= self.pull_seconds:
                self._bell.clear()
                if await self._pulled():
                    asked = loop.time()
            pause = await self._pass()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(
                    min(pause, max(0.0, asked + self.pull_seconds - loop.time()) or pause)
                ):
                    await self._bell.wait()

    async def _pulled(self) -> bool:
        try:
            found = await self.pull(self._published)
        except AppError as error:
            log.info("desired_state.pull_failed", code=error.code, detail=error.detail)
            return False
        if found is not None and found != self._published:
            log.info("desired_state.pulled", generation=found.generation)
            self._published = found
            try:
                self.host.store.keep_desired(found)
            except AppError as error:
                # It is applied all the same; only a restart without the controller would miss it.
                log.warning("desired_state.not_kept", detail=error.detail)
        return True

    async def _pass(self) -> float:
        """Make one pass; answers after how long the next one is due."""
        if self._published is None:
            return self.pass_seconds
        try:
            outcome = await Pass(self.host, self._published).run()
        except Exception:
            log.exception("apply.crashed", generation=self._published.generation)
            return _LONGEST_RETRY_SECONDS
        self._tell(outcome)
        if outcome.result.actions:
            await self.after_pass()
        if outcome.result.status is ApplyState.FAILED:
            self._retry = min(self._retry * 2, _LONGEST_RETRY_SECONDS)
            return self._retry
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
