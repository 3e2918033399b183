"""The schedule: looks upstream again and again."""

from __future__ import annotations

from datetime import timedelta

from registry_server.mirror.errors import RepositoryBroken, SyncHeld, SyncRunning, UpstreamUnavailable
from registry_server.mirror.schemas import SyncTrigger
from registry_server.mirror.service import MirrorService
from shared.kernel.loops import Loop

#: A sync fetches, reads and stores: longer than its git commands alone may take.
_COMMANDS = 4


def loops(mirror: MirrorService) -> list[Loop]:
    """Nothing where no registry is configured."""
    settings = mirror.settings
    if settings.url is None:
        return []

    async def look() -> None:
        try:
            await mirror.sync(SyncTrigger.SCHEDULE)
        except (RepositoryBroken, SyncHeld, SyncRunning, UpstreamUnavailable):
            return  # remembered, logged and shown; the last good state keeps serving

    limit = settings.time_limit * _COMMANDS + timedelta(minutes=1)
    return [Loop("registry.sync", look, interval=settings.interval, time_limit=limit)]
