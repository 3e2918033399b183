"""The two tiers: kv holds the only copy of what heals by itself, cache what SQL can compute again."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum


class Tier(StrEnum):
    """Which of the two instances a family lives on."""

    KV = "kv"
    CACHE = "cache"


#: A call ends by then, answered or not; connecting and waiting for a connection count.
DEADLINES = {Tier.KV: timedelta(milliseconds=250), Tier.CACHE: timedelta(milliseconds=100)}
