"""What a caller sees of a tier that cannot answer. No other error of a client or a socket gets out."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from shared.cache.tier import Tier
from shared.kernel.errors import AppError, Kind, Unavailable


class Reason(StrEnum):
    """Why a tier did not answer, from a bounded set, so that it can label a series."""

    NOT_CONFIGURED = "not_configured"
    BREAKER_OPEN = "breaker_open"
    DEADLINE = "deadline"
    CONNECTION = "connection"
    PROTOCOL = "protocol"
    CAPACITY = "capacity"
    WRITES_REFUSED = "writes_refused"
    BUSY = "busy"
    CONFIGURATION = "configuration"
    WRONG_TYPE = "wrong_type"
    NO_SCRIPT = "no_script"
    REFUSED = "refused"


class TierUnavailable(Unavailable):
    """A key-value tier cannot answer; use the fallback."""

    code: ClassVar[str] = "tier_unavailable"

    def __init__(self, tier: Tier, reason: Reason) -> None:
        """Say which tier and why; never which key."""
        super().__init__(f"The {tier} tier cannot answer ({reason}).")
        self.tier = tier
        self.reason = reason


class OutcomeUnknown(TierUnavailable):
    """A write was sent and not answered: it may have happened. Repeat it only when it is idempotent."""

    code: ClassVar[str] = "tier_outcome_unknown"


class LoadRecentlyFailed(Unavailable):
    """Loading this failed a moment ago and is not tried again yet."""

    code: ClassVar[str] = "load_recently_failed"


class TierMisconfigured(AppError, ValueError):
    """The settings of a key-value tier cannot work."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "tier_misconfigured"


class PayloadError(ValueError):
    """A value that JSON cannot carry was given to a write: a mistake in the calling code."""
