"""How the sweeps went, pass by pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from shared.kernel.clock import Clock
    from shared.runtime_state.contracts import SweepReport


class SweepTally:
    """Counts passes of sweeps and remembers the last one that ended well."""

    def __init__(self, now: Clock) -> None:
        """Nothing has been swept yet."""
        self._now = now
        self.count = 0
        self.failures = 0
        self.last_at: datetime | None = None
        self.last_seconds: float | None = None
        #: Whether the last pass met the end of what had expired, and not that of its budget.
        self.complete = True

    def finished(self, report: SweepReport) -> None:
        self.count += 1
        self.last_at = self._now()
        self.last_seconds = report.seconds
        self.complete = report.complete

    def failed(self) -> None:
        self.failures += 1
