"""The ROAs of the current sync in every format, swapped together."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from registry_server.roas.errors import RoasNotReady, RoasStale
from registry_server.roas.rules import formats
from registry_server.roas.rules.derivation import derive
from registry_server.roas.rules.filters import PATHS, parse_filter
from registry_server.roas.schemas import Export, RoaFormat, RoaSet, RoaSettings
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.snapshot.service import SnapshotKeeper
from shared.kernel.clock import Clock

#: A validator keeps what it read for 24 hours after `generated`, so it must not hear "not modified" for ever:
#: the stamp in it, and with that its tag, moves on this often.
_STAMP = timedelta(hours=1)
_TEXT = "text/plain; charset=utf-8"


def make(snapshot: Snapshot, settings: RoaSettings) -> RoaSet:
    """Derive the ROAs of a snapshot and write them in every format; pure computation."""
    rules, problems = {}, []
    for family, path in PATHS.items():
        rules[family], found = parse_filter(snapshot.filters.get(path, b""), family)
        problems += found
    roas, objections = derive(snapshot.origins, rules)
    rows = formats.json_rows(roas, settings.authority)
    return RoaSet(
        version=snapshot.facts.version,
        commit=snapshot.facts.commit,
        roas=roas,
        problems=[*problems, *objections],
        rules=rules,
        bodies={
            RoaFormat.JSON: rows,
            RoaFormat.BIRD4: formats.bird(roas, 4),
            RoaFormat.BIRD6: formats.bird(roas, 6),
            RoaFormat.OPENBGPD: formats.openbgpd(roas),
        },
        digest=hashlib.sha256(rows).hexdigest()[:24],
    )


@dataclass(slots=True)
class RoaService:
    """One for a process. Fails closed: a file that is old is not given out as if it were new."""

    snapshots: SnapshotKeeper
    settings: RoaSettings
    now: Clock
    _made: RoaSet | None = field(default=None)

    async def take(self, snapshot: Snapshot) -> None:
        """Make the files of a new snapshot."""
        self._made = await asyncio.to_thread(make, snapshot, self.settings)

    @property
    def fresh(self) -> bool:
        """Whether the registry was looked at lately."""
        checked_at = self.snapshots.checked_at
        return checked_at is not None and self.now() - checked_at <= self.settings.stale_after

    def current(self) -> RoaSet:
        """All that is known of the ROAs, however old. Raises RoasNotReady."""
        if self._made is None:
            raise RoasNotReady
        return self._made

    def export(self, form: RoaFormat) -> Export:
        """One format as it is sent now. Raises RoasNotReady or RoasStale."""
        made, checked_at = self.current(), self.snapshots.checked_at
        if checked_at is None or not self.fresh:
            raise RoasStale
        stamp = _stamp(checked_at)
        applied_at = self.snapshots.facts.applied_at if self.snapshots.facts else None
        modified_at = max(stamp, (applied_at or stamp).replace(microsecond=0))
        if form is not RoaFormat.JSON:
            body = made.bodies[form]
            return Export(body, _tag(body), modified_at, _TEXT)
        body = formats.json_document(made.bodies[RoaFormat.JSON], len(made.roas), stamp)
        return Export(body, f'"{made.digest}-{int(stamp.timestamp()):x}"', modified_at, "application/json")


def _stamp(checked_at: datetime) -> datetime:
    """When upstream last had nothing newer, rounded down, so that equal tags mean equal bytes."""
    step = int(_STAMP.total_seconds())
    return datetime.fromtimestamp(int(checked_at.timestamp()) // step * step, UTC)


def _tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:24]}"'
