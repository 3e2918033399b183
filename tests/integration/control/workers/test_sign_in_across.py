"""A sign-in that begins at one worker and ends at the other, with the tier there, away, and back again."""

import asyncio
from datetime import timedelta

import pytest

from control_server.keys import LOGIN
from control_server.operators.dependencies import login_store
from control_server.operators.schemas import Login, Purpose
from control_server.operators.store import LoginStore
from shared.testing.servers import KeyValueServer
from tests.integration.control.workers.pair import Pair


def a_login(pair: Pair) -> Login:
    at = pair.a.clock()
    return Login(
        browser="a hash",
        purpose=next(iter(Purpose)),
        nonce="n",
        verifier="v",
        next_page="/nodes",
        session_id=None,
        created_at=at,
        expires_at=at + timedelta(minutes=30),
    )


@pytest.fixture
def stores(pair: Pair) -> tuple[LoginStore, LoginStore]:
    return login_store(pair.a.resources), login_store(pair.b.resources)


async def test_is_found_at_the_other_worker_once(pair: Pair, stores: tuple[LoginStore, LoginStore]) -> None:
    here, there = stores
    state = await here.put(a_login(pair))
    survey = await pair.a.resources.kv.survey(LOGIN)
    assert (survey.count, survey.without_ttl) == (1, 0)
    taken = await asyncio.gather(*(store.take(state) for store in (here, there) * 4))
    assert [login for login in taken if login is not None] == [a_login(pair)]


async def test_a_state_is_good_in_the_store_that_made_it(
    pair: Pair, stores: tuple[LoginStore, LoginStore], kv: KeyValueServer
) -> None:
    here, there = stores
    kv.stop()
    begun_without = await here.put(a_login(pair))
    kv.start()
    begun_with = await here.put(a_login(pair))
    assert begun_without.startswith("sql-")
    assert await there.take(begun_without) == a_login(pair)
    assert await there.take(begun_without) is None
    kv.flush()
    if begun_with.startswith("kv-"):
        assert await there.take(begun_with) is None


async def test_too_late_is_too_late(pair: Pair, stores: tuple[LoginStore, LoginStore]) -> None:
    here, there = stores
    state = await here.put(a_login(pair))
    pair.a.clock.turn(1801)
    assert await there.take(state) is None
