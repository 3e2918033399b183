"""The version that readers of the cache go by: it follows the applied sync of SQL."""

from __future__ import annotations

from dataclasses import dataclass

from registry_server.keys import SYNCED, VERSION
from shared.cache import Cache, TierUnavailable


@dataclass(frozen=True, slots=True)
class Versions:
    """`reg:ver` on the cache tier; without the tier there is none, and readers use SQL."""

    cache: Cache

    async def current(self) -> int | None:
        """The version, or None where the tier has none or cannot say."""
        try:
            counted = await self.cache.read_counter(VERSION.key())
        except TierUnavailable:
            return None
        return counted.value if counted else None

    async def raise_to(self, version: int) -> bool:
        """Bring the tier up to an applied sync; False where it cannot be told now.

        Entries under a version hold the data of exactly that sync, so a counter that is there already needs
        no further step. A counter that was evicted starts at the sync's number, never at 1.
        """
        try:
            counted = await self.cache.read_counter(VERSION.key())
            if counted is None or counted.value < version:
                await self.cache.bump_version(VERSION.key(), at_least=version)
        except TierUnavailable:
            return False
        return True

    async def announce(self, version: int) -> bool:
        """Tell every worker that listens; False where the tier is away, and they find out by themselves."""
        try:
            await self.cache.publish(SYNCED.key(), version)
        except TierUnavailable:
            return False
        return True
