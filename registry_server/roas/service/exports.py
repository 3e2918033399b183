"""The ROAs of the current sync in every format, swapped together."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from dataclasses import dataclass, field, replace
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


def _is_the_same(before: Snapshot, after: Snapshot) -> bool:
    """Whether the same ROAs follow from both: most syncs change no route."""
    return (
        before.filters == after.filters
        and len(before.origins) == len(after.origins)
        and all(
            one.origin == other.origin and one.max_length == other.max_length and one.prefix == other.prefix
            for one, other in zip(before.origins, after.origins, strict=True)
        )
    )


@dataclass(slots=True)
class RoaService:
    """One for a process. Fails closed: a file that is old is not given out as if it were new."""

    snapshots: SnapshotKeeper
    settings: RoaSettings
    now: Clock
    _made: RoaSet | None = field(default=None)
    _exports: dict[RoaFormat, Export] = field(default_factory=dict)

    async def take(self, snapshot: Snapshot) -> None:
        """Make the files of a new snapshot."""
        made, before = self._made, self.snapshots.current
        if made is not None and before is not None and _is_the_same(before, snapshot):
            self._made = replace(made, version=snapshot.facts.version, commit=snapshot.facts.commit)
        else:
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
            return self._whole(form, body, _digest(body), modified_at)
        body = formats.json_document(made.bodies[RoaFormat.JSON], len(made.roas), stamp)
        return self._whole(form, body, f"{made.digest}-{int(stamp.timestamp()):x}", modified_at)

    def _whole(self, form: RoaFormat, body: bytes, digest: str, modified_at: datetime) -> Export:
        """The export of these bytes; packed once, for validators ask again and again."""
        known = self._exports.get(form)
        tag = f'"{digest}"'
        if known is None or (known.tag, known.modified_at) != (tag, modified_at):
            packed = known.packed if known and known.tag == tag else gzip.compress(body, mtime=0)
            media_type = "application/json" if form is RoaFormat.JSON else _TEXT
            known = Export(body, packed, tag, f'"{digest}-gzip"', modified_at, media_type)
            self._exports[form] = known
        return known


def _stamp(checked_at: datetime) -> datetime:
    """When upstream last had nothing newer, rounded down, so that equal tags mean equal bytes."""
    step = int(_STAMP.total_seconds())
    return datetime.fromtimestamp(int(checked_at.timestamp()) // step * step, UTC)


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:24]
