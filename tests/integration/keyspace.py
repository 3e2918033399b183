"""The gate of the live keyspace: no key without an end, and no key that nobody declared."""

import asyncio

from auth_server.keys import REGISTRY as AUTH
from control_server.keys import REGISTRY as CONTROL
from registry_server.keys import REGISTRY as REGISTRY_SERVER
from shared.cache import Cache, KeyRegistry, Kind, Tier, TierSettings, open_cache
from shared.testing.servers import KeyValueServer

#: Which service's keys stand in which database of which tier.
OWNERS: dict[Tier, dict[int, KeyRegistry]] = {
    Tier.KV: {1: CONTROL, 2: AUTH},
    Tier.CACHE: {1: CONTROL, 3: REGISTRY_SERVER},
}


def hold_keyspace(server: KeyValueServer, tier: Tier) -> None:
    """Fail for what the tests have left on a server that breaks the rules."""
    asyncio.run(_hold(server, tier))


async def _hold(server: KeyValueServer, tier: Tier) -> None:
    for database, declared in OWNERS[tier].items():
        cache = open_cache(TierSettings.model_validate({"url": server.url}), tier, "gate", database)
        try:
            undeclared = [name async for name in cache.names() if declared.find(tier, database, name) is None]
            assert not undeclared, f"keys in {tier} {database} that nobody declared"
            endless = (await cache.info()).keys_without_ttl(database)
            assert endless == await _versions(cache, declared), f"keys in {tier} {database} that never expire"
        finally:
            await cache.aclose()


async def _versions(cache: Cache, declared: KeyRegistry) -> int:
    """Keys that are declared to have no end; kv has no such family."""
    families = [family for family in declared if family.kind is Kind.VERSION and family.tier is cache.tier]
    return sum([await cache.scan_count(family) for family in families])
