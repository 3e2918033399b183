"""Every key of this service in the runtime state: what may vanish at any time without changing an answer."""

from __future__ import annotations

from datetime import timedelta

from shared.runtime_state import RuntimeStateFamilies, RuntimeStateFamily

_ARTIFACT_TTL = timedelta(seconds=3600)


def _artifact(part: str, purpose: str) -> RuntimeStateFamily:
    return RuntimeStateFamily(
        name=f"runtime:artifact:{part}",
        pattern=f"runtime:artifact:<id>:{part}",
        owner="desired_state.store.PreviewStore",
        purpose=purpose,
        ttl=_ARTIFACT_TTL,
        cap="one item within the byte budget; over it nothing is written",
        loss="render again under a new id; the old id answers 404",
    )


def _limit(name: str, place: str, seconds: int, purpose: str, loss: str) -> RuntimeStateFamily:
    return RuntimeStateFamily(
        name=name,
        pattern=f"{name}:<{place}>",
        owner="api_tokens.store.TokenLimits",
        purpose=purpose,
        ttl=timedelta(seconds=seconds),
        cap="one number",
        loss=loss,
    )


ARTIFACT_MANIFEST = _artifact("manifest", "what a preview of a configuration holds, with digests")
ARTIFACT_BUNDLE = _artifact("bundle", "the rendered configuration of the preview, as one text")
ARTIFACT_MODULES = _artifact("modules", "the preview's files by path")
ARTIFACT_ASSETS = _artifact("assets", "the preview's binary files by path")
ARTIFACT_META = _artifact("meta", "who made the preview, when, and its digest")

PAT_RATE_LIMIT = _limit(
    "pat:rate_limit",
    "token_id",
    60,
    "requests of one access token in this minute",
    "the minute is counted anew",
)
PAT_AUTH_FAIL = _limit(
    "pat:auth_fail",
    "source",
    60,
    "refused access tokens from one address, or one IPv6 /64, in this minute",
    "the minute is counted anew",
)
PAT_LOCKOUT = _limit(
    "pat:lockout", "source", 900, "access tokens from there are not looked at", "the lockout ends early"
)
PAT_LAST_USED_THROTTLE = _limit(
    "pat:last_used_throttle",
    "token_id",
    300,
    "the last use of this token has just been written to SQL",
    "one more update",
)

#: All of them.
RUNTIME_STATE = RuntimeStateFamilies(
    ARTIFACT_MANIFEST,
    ARTIFACT_BUNDLE,
    ARTIFACT_MODULES,
    ARTIFACT_ASSETS,
    ARTIFACT_META,
    PAT_RATE_LIMIT,
    PAT_AUTH_FAIL,
    PAT_LOCKOUT,
    PAT_LAST_USED_THROTTLE,
)
