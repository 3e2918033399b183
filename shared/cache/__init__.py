"""The two key-value tiers: one class, injected twice as `kv` and `cache`; every key declared."""

from shared.cache.cache import Cache, Counted, Taken, TakeOutcome
from shared.cache.errors import (
    LoadRecentlyFailed,
    OutcomeUnknown,
    PayloadError,
    Reason,
    TierUnavailable,
)
from shared.cache.hub import HubPolicy
from shared.cache.information import FamilySurvey, TierInformation
from shared.cache.keys import Key, KeyFamily, KeyRegistry, Kind
from shared.cache.lists import Appended, LogItem, LogPolicy, LogTarget, Outcome, WhenFull
from shared.cache.observer import CacheObserver, Unobserved
from shared.cache.opening import open_cache
from shared.cache.settings import SentinelSettings, TierSettings
from shared.cache.subscriptions import Event, Interrupted, Message, Resync, ResyncReason, Subscription
from shared.cache.tier import Tier

__all__ = [
    "Appended",
    "Cache",
    "CacheObserver",
    "Counted",
    "Event",
    "FamilySurvey",
    "HubPolicy",
    "Interrupted",
    "Key",
    "KeyFamily",
    "KeyRegistry",
    "Kind",
    "LoadRecentlyFailed",
    "LogItem",
    "LogPolicy",
    "LogTarget",
    "Message",
    "Outcome",
    "OutcomeUnknown",
    "PayloadError",
    "Reason",
    "Resync",
    "ResyncReason",
    "SentinelSettings",
    "Subscription",
    "TakeOutcome",
    "Taken",
    "Tier",
    "TierInformation",
    "TierSettings",
    "TierUnavailable",
    "Unobserved",
    "WhenFull",
    "open_cache",
]
