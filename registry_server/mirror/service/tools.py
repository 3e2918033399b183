"""What a sync works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from registry_server.mirror.schemas import MirrorSettings, SyncRead
from registry_server.mirror.store.lock import SyncLock
from registry_server.mirror.store.progress import SyncBoard
from registry_server.mirror.store.repository import BareRepository
from registry_server.mirror.store.versions import Versions
from registry_server.objects.schemas import IndexCounts
from shared.database import Database
from shared.kernel.clock import Clock

#: Done after each applied sync and before it is answered.
AfterSync = Callable[[], Awaitable[None]]
#: What the ROAs of each family authorise, as the session's transaction has them, by what they are called.
Authorised = Callable[[Any], Awaitable[Mapping[str, frozenset[Hashable]]]]


class SyncObserver(Protocol):
    """Told of each sync; counts it."""

    def synced(self, sync: SyncRead, counts: IndexCounts | None) -> None:
        """A sync ended so; with the counts where the index was replaced."""


@dataclass(frozen=True, slots=True)
class MirrorTools:
    """Opened once, shared by all syncs."""

    database: Database
    upstream: BareRepository
    versions: Versions
    lock: SyncLock
    board: SyncBoard
    settings: MirrorSettings
    authorised: Authorised
    observer: SyncObserver
    now: Clock
    applied: AfterSync | None = None
