"""The schedule: looks upstream again and again, and keeps the cache tier's version in step with SQL."""

from __future__ import annotations

from datetime import timedelta

from registry_server.mirror.schemas import SyncTrigger
from registry_server.mirror.service import MirrorService
from shared.kernel.loops import Loop

#: A sync fetches, reads and stores: longer than its git commands alone may take.
_COMMANDS = 4
#: So long readers go past a tier whose version was evicted, or not raised by a process that died.
_HEALED_WITHIN = timedelta(seconds=10)


def loops(mirror: MirrorService) -> list[Loop]:
    """What there is to do; nothing where neither a registry nor a cache tier is configured."""
    healing = [Loop("registry.version", mirror.heal, interval=_HEALED_WITHIN)]
    return [*_following(mirror), *(healing if mirror.versions.cache.configured else [])]


def _following(mirror: MirrorService) -> list[Loop]:
    settings = mirror.settings
    if settings.url is None:
        return []

    async def look() -> None:
        await mirror.follow(SyncTrigger.SCHEDULE)

    limit = settings.time_limit * _COMMANDS + timedelta(minutes=1)
    return [Loop("registry.sync", look, interval=settings.interval, time_limit=limit)]
