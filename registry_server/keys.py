"""Every key of this service: looked-up records under a version that each sync raises."""

from __future__ import annotations

from datetime import timedelta

from shared.cache import KeyFamily, KeyRegistry, Kind, Tier

#: Database of the cache tier that belongs to registry_server.
CACHE_DATABASE = 3
RECORD_TTL = timedelta(minutes=30)

REGISTRY = KeyRegistry()

VERSION = REGISTRY.add(
    KeyFamily(
        name="reg:ver",
        pattern="reg:ver",
        tier=Tier.CACHE,
        database=CACHE_DATABASE,
        kind=Kind.VERSION,
        ttl=None,
        writer="each applied sync, and a start that finds it behind",
        purpose="the version that the names of cached records carry",
        loss="the next sync or start writes it again, from the sync's number in SQL; until then SQL answers",
    )
)

SYNCED = REGISTRY.add(
    KeyFamily(
        name="evt:registry",
        pattern="evt:registry",
        tier=Tier.CACHE,
        database=CACHE_DATABASE,
        kind=Kind.CHANNEL,
        ttl=None,
        writer="each applied sync",
        purpose="tells every worker to read its snapshot anew",
        loss="workers notice a sync by their look at SQL each second",
    )
)


def _records(name: str, pattern: str, purpose: str) -> KeyFamily:
    return REGISTRY.add(
        KeyFamily(
            name=name,
            pattern=pattern,
            tier=Tier.CACHE,
            database=CACHE_DATABASE,
            kind=Kind.JSON,
            ttl=RECORD_TTL,
            writer="look-ups",
            purpose=purpose,
            loss="one more query to SQL",
            # A record never changes under the version that is in its key.
            renewed=True,
        )
    )


ASN_RECORD = _records("reg:asn", "reg:v<version>:asn:<asn>", "what the registry says of an AS number")
MNTNER_RECORD = _records(
    "reg:mntner", "reg:v<version>:mntner:<name>", "what the registry says of a maintainer"
)
ROUTES_RECORD = _records("reg:routes", "reg:v<version>:routes:<asn>", "the prefixes that an AS may originate")
IDENTITY_RECORD = _records(
    "reg:identity",
    "reg:v<version>:identity:<asn>/<mntner>",
    "what the claims of a maintainer about an AS number are made of",
)
