"""The two key-value tiers: one class, injected twice as `kv` and `cache`; every key declared."""

from shared.cache.cache import Cache
from shared.cache.errors import (
    LoadRecentlyFailed,
    OutcomeUnknown,
    PayloadError,
    Reason,
    TierMisconfigured,
    TierUnavailable,
)
from shared.cache.health import Healthz, TierHealth, TierState, healthz
from shared.cache.hub import HubPolicy
from shared.cache.information import FamilySurvey, TierInformation
from shared.cache.keys import Key, KeyFamily, KeyRegistry, Kind
from shared.cache.lists import Appended, LogItem, LogPolicy, LogTarget, Outcome, WhenFull
from shared.cache.metrics import PrometheusObserver
from shared.cache.observer import CacheObserver, Unobserved
from shared.cache.opening import check_tiers, open_cache
from shared.cache.outcomes import Counted, Taken, TakeOutcome
from shared.cache.prober import TierProber
from shared.cache.settings import SentinelSettings, TierSettings
from shared.cache.steps import Advance, Advanced, LogStep
from shared.cache.subscriptions import Event, Interrupted, Message, Resync, ResyncReason, Subscription
from shared.cache.tier import Tier

__all__ = [
    "Advance",
    "Advanced",
    "Appended",
    "Cache",
    "CacheObserver",
    "Counted",
    "Event",
    "FamilySurvey",
    "Healthz",
    "HubPolicy",
    "Interrupted",
    "Key",
    "KeyFamily",
    "KeyRegistry",
    "Kind",
    "LoadRecentlyFailed",
    "LogItem",
    "LogPolicy",
    "LogStep",
    "LogTarget",
    "Message",
    "Outcome",
    "OutcomeUnknown",
    "PayloadError",
    "PrometheusObserver",
    "Reason",
    "Resync",
    "ResyncReason",
    "SentinelSettings",
    "Subscription",
    "TakeOutcome",
    "Taken",
    "Tier",
    "TierHealth",
    "TierInformation",
    "TierMisconfigured",
    "TierProber",
    "TierSettings",
    "TierState",
    "TierUnavailable",
    "Unobserved",
    "WhenFull",
    "check_tiers",
    "healthz",
    "open_cache",
]
