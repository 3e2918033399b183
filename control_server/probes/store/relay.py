"""What every relay of running probes can do, wherever it keeps them. In go values, and out come values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from control_server.probes.schemas import Appended, Closed, Ending, Line, Outcome, ProbeJob, Snapshot
from shared.protocol.frames import OutputLine

#: How long a finished probe is kept for viewers that come back; the archive has it anyway.
KEPT_AFTER_END = timedelta(seconds=120)
#: Messages that may wait for one viewer; past it they are dropped and the viewer reads the list again.
VIEWER_QUEUE = 256


@dataclass(frozen=True, slots=True)
class Changed:
    """News for viewers that is no line: something of a node's share, or of the probe, changed."""

    data: dict[str, Any]


class Resync:
    """Messages were dropped, or the probe has ended: read the list again."""


RESYNC = Resync()
Message = Line | Changed | Resync


class Following(Protocol):
    """One viewer's queue. Subscribing comes before reading the list, never after (S3)."""

    async def get(self) -> Message:
        """The next message."""


class Relay(Protocol):
    """Running probes. A relay on a tier raises TierUnavailable where it cannot answer."""

    async def open(self, job: ProbeJob) -> None:
        """Begin a probe; opening it again changes nothing."""

    async def holds(self, probe_id: UUID) -> bool:
        """Whether the probe is still known here."""

    async def unfinished(self) -> list[UUID]:
        """Probes without an ending that this process has to do with."""

    async def append(self, probe_id: UUID, node: str, lines: Sequence[OutputLine]) -> Appended:
        """Take a batch of a node, each line once (S15). Raises ProbeUnknown or OutputRefused."""

    async def close_share(self, probe_id: UUID, node: str, outcome: Outcome) -> Closed | None:
        """Take no more lines of the node. The first outcome counts; None when the probe is not held."""

    async def closed_share(self, probe_id: UUID, node: str) -> Closed | None:
        """How the node's share was closed, if it was."""

    async def announce(self, probe_id: UUID, data: dict[str, Any]) -> None:
        """Tell viewers of a change that is no line. Whoever comes later reads the state instead."""

    async def finish(self, probe_id: UUID, ending: Ending) -> bool:
        """End the probe once, after every line; later callers change nothing (S7)."""

    async def read(self, probe_id: UUID, after: int = 0) -> Snapshot | None:
        """The lines with a greater number, and the ending if there is one; None when not held."""

    def subscribe(self, probe_id: UUID) -> AbstractAsyncContextManager[Following | None]:
        """A viewer's queue, for as long as the body runs; None when not held. Raises TooManyViewers."""

    async def sweep(self) -> None:
        """Free what ended a while ago; its viewers go on from the archive."""

    async def drop(self, probe_id: UUID) -> None:
        """Forget a probe at once."""

    def viewers(self) -> int:
        """Open subscriptions, for metrics."""
