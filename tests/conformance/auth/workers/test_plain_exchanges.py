"""The plain case of an exchange needs no session of the database; all else is exchanged in one."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import event

from auth_server.keys import CODE, CODE_USED
from shared.kernel.secrets import digest_of
from tests.conformance.auth.targets.ours import Ours
from tests.conformance.auth.targets.target import HOUSE, Pkce, Visitor
from tests.conformance.auth.workers.conftest import Workers

pytestmark = pytest.mark.asyncio(loop_scope="session")


@contextmanager
def statements(worker: Ours) -> Iterator[list[str]]:
    """What is asked in sessions of this worker meanwhile, of tables of tokens."""
    seen: list[str] = []
    engine = worker.provider.resources.database.writer.sync_engine

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "refresh_tokens" in statement or "grants" in statement:
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


async def known_client(worker: Ours, ada: Visitor) -> None:
    await worker.tokens(ada, HOUSE)


async def test_c1_a_code_and_its_refresh_token_are_exchanged_without_a_session(workers: Workers) -> None:
    one, pkce = workers.one, Pkce()
    ada = await one.person()
    await known_client(one, ada)
    code = await one.code(ada, HOUSE, pkce)
    with statements(one) as seen:
        redeemed = await one.redeem(HOUSE, code, pkce)
        refreshed = await one.refresh(HOUSE, redeemed.json()["refresh_token"])
    assert (redeemed.status_code, refreshed.status_code) == (200, 200)
    assert seen == []
    assert not await workers.other.is_dead(refreshed.json()["access_token"])


async def set_last_use(worker: Ours, ada: Visitor, days: int) -> UUID:
    """Write that the person's session was used so many days ago; answers its id."""
    provider = worker.provider
    account = provider.stored(UUID(ada.account or ""))
    query = "SELECT id FROM sessions WHERE account_id = :owner ORDER BY created_at DESC LIMIT 1"
    [(session_id,)] = await provider.rows(query, owner=account)
    change = (
        "UPDATE sessions SET last_used_at = last_used_at - make_interval(days => :days) WHERE id = :ident"
    )
    await provider.execute(change, days=days, ident=session_id)
    return UUID(str(session_id))


async def test_a_session_that_only_this_worker_knows_to_be_in_use(workers: Workers) -> None:
    """SQL says that it is idle, which a worker knows better until it has written when it was used."""
    one, pkce = workers.one, Pkce()
    ada = await one.person()
    code = await one.code(ada, HOUSE, pkce)
    session_id = await set_last_use(one, ada, days=365)
    one.provider.app.state.last_uses.note(session_id, one.provider.clock())
    answer = await one.redeem(HOUSE, code, pkce)
    assert answer.status_code == 200
    assert (await one.refresh(HOUSE, answer.json()["refresh_token"])).status_code == 200


async def test_a_session_that_nobody_knows_to_be_in_use(workers: Workers) -> None:
    pkce = Pkce()
    ada = await workers.one.person()
    code = await workers.one.code(ada, HOUSE, pkce)
    await set_last_use(workers.one, ada, days=365)
    answer = await workers.other.redeem(HOUSE, code, pkce)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    query = (
        "SELECT count(*) FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id WHERE account_id = :owner"
    )
    owner = workers.one.provider.stored(UUID(ada.account or ""))
    assert await workers.one.provider.rows(query, owner=owner) == [(0,)]


async def test_what_a_worker_remembers_of_an_account_is_confirmed_when_it_is_used(workers: Workers) -> None:
    one, pkce = workers.one, Pkce()
    ada = await one.person()
    redeemed = await one.redeem(HOUSE, await one.code(ada, HOUSE, pkce), pkce)
    owner = one.provider.stored(UUID(ada.account or ""))
    await one.provider.execute("UPDATE accounts SET display_name = 'Renamed' WHERE id = :owner", owner=owner)
    refreshed = await one.refresh(HOUSE, redeemed.json()["refresh_token"])
    assert refreshed.status_code == 200
    assert claims_of(refreshed.json()["id_token"])["name"] == "Renamed"


def claims_of(token: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return found


async def test_a_token_that_another_worker_has_used(workers: Workers) -> None:
    """The first to be asked remembers it as unused, and gives the answer that was given before."""
    one, pkce = workers.one, Pkce()
    ada = await one.person()
    token = (await one.redeem(HOUSE, await one.code(ada, HOUSE, pkce), pkce)).json()["refresh_token"]
    there = await workers.other.refresh(HOUSE, token)
    here = await one.refresh(HOUSE, token)
    assert (there.status_code, here.status_code) == (200, 200)
    assert here.json() == there.json()


async def test_a_used_code_that_the_tier_has_forgotten_is_a_replay_where_it_is_remembered(
    workers: Workers,
) -> None:
    one, pkce = workers.one, Pkce()
    ada = await one.person()
    code = await one.code(ada, HOUSE, pkce)
    given = await workers.other.redeem(HOUSE, code, pkce)
    digest = digest_of(code)
    await one.provider.resources.kv.delete(CODE.key(digest=digest), CODE_USED.key(digest=digest))
    again = await one.redeem(HOUSE, code, pkce)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert await workers.other.is_dead(given.json()["access_token"])
