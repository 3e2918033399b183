"""Every key of this service on the kv tier: what is used once, and how often somebody failed."""

from __future__ import annotations

from datetime import timedelta

from shared.cache import KeyFamily, KeyRegistry, Kind, Tier
from shared.cache.failures import WINDOW

#: Database of the kv tier that belongs to auth_server.
DATABASE = 2

REGISTRY = KeyRegistry()

CODE = REGISTRY.add(
    KeyFamily(
        name="oauth:code",
        pattern="oauth:code:<digest>",
        tier=Tier.KV,
        database=DATABASE,
        kind=Kind.JSON,
        ttl=timedelta(seconds=120),
        writer="consent",
        purpose="what an authorization code stands for, under its hash",
        loss="the person authorises again",
        restart="as a loss",
        correctness=True,
    )
)
CODE_USED = REGISTRY.add(
    KeyFamily(
        name="oauth:code:used",
        pattern="oauth:code:used:<digest>",
        tier=Tier.KV,
        database=DATABASE,
        kind=Kind.JSON,
        ttl=timedelta(seconds=600),
        writer="redemption, in the step that takes the code",
        purpose="the tombstone by which a second redemption is known for a replay",
        loss="the family in SQL remembers the code's hash for as long as its tokens live",
        restart="as a loss",
        correctness=True,
    )
)
CEREMONY = REGISTRY.add(
    KeyFamily(
        name="auth:ceremony",
        pattern="auth:ceremony:<ceremony>",
        tier=Tier.KV,
        database=DATABASE,
        kind=Kind.JSON,
        ttl=timedelta(minutes=5),
        writer="the start of a registration or sign-in with a passkey",
        purpose="a challenge, and for whom and what it was made",
        loss="the person uses the passkey once more",
        restart="as a loss",
        correctness=True,
    )
)
SIGN_IN_FAILURES = REGISTRY.add(
    KeyFamily(
        name="throttle:login",
        pattern="throttle:login:<subject>",
        tier=Tier.KV,
        database=DATABASE,
        kind=Kind.COUNTER,
        ttl=WINDOW,
        writer="each failed sign-in and each request that a public client leaves; the first fixes the end",
        purpose="failures of an account or address, or requests left from there, by digest, over all workers",
        loss="each worker goes by what it has seen itself",
        restart="counting begins anew",
    )
)
