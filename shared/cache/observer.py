"""What is counted: the tiers tell an observer, and know nothing of how it counts."""

from __future__ import annotations

from typing import Protocol

from shared.cache.breaker import BreakerState
from shared.cache.errors import Reason
from shared.cache.tier import Tier


class CacheObserver(Protocol):
    """Told of every operation. Families and results are bounded sets; keys and values never come here."""

    def counted(self, tier: Tier, family: str, operation: str, result: str) -> None:
        """One operation ended as hit, miss, negative, stored, error, fallback, unknown and the like."""

    def took(self, tier: Tier, operation: str, seconds: float) -> None:
        """One exchange with the server took so long, whatever came of it."""

    def failed(self, tier: Tier, reason: Reason) -> None:
        """The tier could not answer."""

    def breaker_changed(self, tier: Tier, state: BreakerState) -> None:
        """The breaker opened, tries, or closed."""

    def pool_used(self, tier: Tier, in_use: int, size: int) -> None:
        """So many connections of the pool are in use."""

    def subscriber_reconnected(self, tier: Tier) -> None:
        """The subscriber connection was made anew."""

    def subscriber_overflowed(self, tier: Tier, family: str) -> None:
        """A subscriber was too slow; its queue was dropped and it was told to read again."""

    def probed(self, tier: Tier, up: bool, memory_share: float | None, keys_without_ttl: int | None) -> None:
        """The prober looked."""


class Unobserved:
    """Counts nothing."""

    def counted(self, tier: Tier, family: str, operation: str, result: str) -> None: ...
    def took(self, tier: Tier, operation: str, seconds: float) -> None: ...
    def failed(self, tier: Tier, reason: Reason) -> None: ...
    def breaker_changed(self, tier: Tier, state: BreakerState) -> None: ...
    def pool_used(self, tier: Tier, in_use: int, size: int) -> None: ...
    def subscriber_reconnected(self, tier: Tier) -> None: ...
    def subscriber_overflowed(self, tier: Tier, family: str) -> None: ...
    def probed(
        self, tier: Tier, up: bool, memory_share: float | None, keys_without_ttl: int | None
    ) -> None: ...
