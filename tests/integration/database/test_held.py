"""The rule that no connection is held while a load is waited for, and that breaking it is seen."""

import pytest
from sqlalchemy import text

from control_server.keys import HEALTH_FLEET
from shared.cache import Tier, TierSettings, open_cache
from shared.database import Database


async def test_a_load_that_is_waited_for_with_a_connection_fails_the_test(database: Database) -> None:
    cache = open_cache(TierSettings(), Tier.CACHE, "tests", 1)

    async def load() -> int:
        async with database.reading() as session:
            return int((await session.execute(text("SELECT 7"))).scalar_one())

    async with database.reading() as session:
        assert await cache.get_or_load(HEALTH_FLEET.key(), load, ttl_seconds=9) == 7
        await session.execute(text("SELECT 1"))
        with pytest.raises(AssertionError, match="holds a connection"):
            await cache.get_or_load(HEALTH_FLEET.key(), load, ttl_seconds=9)
    assert await cache.get_or_load(HEALTH_FLEET.key(), load, ttl_seconds=9) == 7
    await cache.aclose()
