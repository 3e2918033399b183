"""Refresh tokens: rotated in families. Rows E1 to E6 and E8 to E10."""

import asyncio

import pytest
from sqlalchemy import update

from auth_server.accounts.models import Account
from auth_server.authorization.dependencies import authorization_service
from auth_server.sessions.service import PASSKEY
from shared.kernel.principal import SYSTEM, Role
from tests.conformance.auth.provider.provider import (
    ABSENT,
    PORTAL,
    SHOP,
    TOOL,
    Person,
    Provider,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("client", [TOOL, SHOP, PORTAL])
async def test_e1_every_use_gives_a_new_one(provider: Provider, ada: Person, client: str) -> None:
    token = (await provider.tokens(ada, client))["refresh_token"]
    seen = {token}
    for _ in range(3):
        answer = await provider.refresh(token, client)
        assert answer.status_code == 200
        token = answer.json()["refresh_token"]
        assert token not in seen
        seen.add(token)


async def test_e2_a_replay_kills_the_newest(provider: Provider, ada: Person) -> None:
    first = (await provider.tokens(ada))["refresh_token"]
    newest = (await provider.refresh(first)).json()
    provider.clock.turn(seconds=11)
    assert (await provider.refresh(first)).json()["error"] == "invalid_grant"
    assert (await provider.refresh(newest["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await provider.introspect(newest["access_token"])) == {"active": False}
    assert [row[1] for row in await provider.grants(ada)] == ["refresh_replayed"]
    assert "grant.revoked" in await provider.actions(ada)


async def test_e2_the_person_is_told_of_a_replay(provider: Provider, ada: Person) -> None:
    quiet = await ada.browser.get("/auth/account")
    assert "was disconnected" not in quiet.text
    first = (await provider.tokens(ada, SHOP))["refresh_token"]
    await provider.refresh(first, SHOP)
    provider.clock.turn(seconds=11)
    await provider.refresh(first, SHOP)
    page = await ada.browser.get("/auth/account")
    assert page.status_code == 200
    assert "Corner shop was disconnected" in page.text
    other = await provider.person()
    assert "was disconnected" not in (await other.browser.get("/auth/account")).text
    provider.clock.turn(days=15)
    assert not await alarms(provider, ada)


async def alarms(provider: Provider, person: Person) -> list[str]:
    async with provider.services() as services:
        return [grant.client_id for grant in await services.grants.list_alarms(person.account_id)]


async def test_e3_a_lost_answer_is_given_again_for_ten_seconds(provider: Provider, ada: Person) -> None:
    parent = (await provider.tokens(ada))["refresh_token"]
    answer = (await provider.refresh(parent)).json()
    for _ in range(3):
        provider.clock.turn(seconds=3)
        again = await provider.refresh(parent)
        assert (again.status_code, again.json()) == (200, answer)
    provider.clock.turn(seconds=2)
    assert (await provider.refresh(parent)).json()["error"] == "invalid_grant"


async def test_e3_a_grandparent_is_never_good(provider: Provider, ada: Person) -> None:
    grandparent = (await provider.tokens(ada))["refresh_token"]
    parent = (await provider.refresh(grandparent)).json()["refresh_token"]
    child = (await provider.refresh(parent)).json()["refresh_token"]
    assert (await provider.refresh(grandparent)).json()["error"] == "invalid_grant"
    assert (await provider.refresh(child)).json()["error"] == "invalid_grant"


async def test_e3_the_kept_answer_is_sealed_and_forgotten(provider: Provider, ada: Person) -> None:
    parent = (await provider.tokens(ada))["refresh_token"]
    answer = (await provider.refresh(parent)).json()
    kept = await provider.rows("SELECT sealed_answer FROM refresh_tokens WHERE sealed_answer IS NOT NULL")
    assert kept
    assert not any(answer["refresh_token"] in row[0] or answer["access_token"] in row[0] for row in kept)
    provider.clock.turn(seconds=11)
    async with provider.services() as services:
        await services.grants.forget()
    assert not await provider.rows("SELECT 1 FROM refresh_tokens WHERE sealed_answer IS NOT NULL")


@pytest.mark.parametrize("client", [TOOL, PORTAL])
async def test_e4_twenty_parallel_refreshes_leave_one_family(
    provider: Provider, ada: Person, client: str
) -> None:
    token = (await provider.tokens(ada, client))["refresh_token"]
    answers = await asyncio.gather(*(provider.refresh(token, client) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    alive = "SELECT 1 FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id WHERE r.consumed_at IS NULL"
    mine = await provider.rows(f"{alive} AND g.account_id = :o", o=provider.stored(ada.account_id))
    assert len(mine) == 1


async def test_e4_twenty_parallel_replays_end_it_once(provider: Provider, ada: Person) -> None:
    token = (await provider.tokens(ada))["refresh_token"]
    await provider.refresh(token)
    provider.clock.turn(seconds=11)
    answers = await asyncio.gather(*(provider.refresh(token) for _ in range(20)))
    assert {(answer.status_code, answer.json()["error"]) for answer in answers} == {(400, "invalid_grant")}
    assert (await provider.actions(ada)).count("grant.revoked") == 1


async def test_e5_a_refresh_token_is_its_client_s(provider: Provider, ada: Person) -> None:
    token = (await provider.tokens(ada, SHOP))["refresh_token"]
    for other in (TOOL, PORTAL):
        assert (await provider.refresh(token, other)).json()["error"] == "invalid_grant"
    assert (await provider.refresh(token, SHOP, client_secret=ABSENT)).status_code == 401
    assert (await provider.refresh(token, SHOP, client_secret="wrong")).status_code == 401
    assert (await provider.refresh(token, SHOP)).status_code == 200


async def test_e6_fewer_scopes_for_once_and_never_more(provider: Provider, ada: Person) -> None:
    token = (await provider.tokens(ada))["refresh_token"]
    wider = await provider.refresh(token, scope="openid fleet:write")
    assert (wider.status_code, wider.json()["error"]) == (400, "invalid_scope")
    narrow = (await provider.refresh(token, scope="openid")).json()
    assert narrow["scope"] == "openid"
    assert (await provider.read(narrow["access_token"]))["scope"] == "openid"
    whole = (await provider.refresh(narrow["refresh_token"])).json()
    assert whole["scope"] == "openid profile offline_access fleet:read"
    twice = (await provider.refresh(whole["refresh_token"], scope="profile openid openid")).json()
    assert twice["scope"] == "openid profile"


async def test_e6_a_role_that_gives_none_of_the_scopes_any_more_gets_no_token(provider: Provider) -> None:
    person = await provider.person(Role.OPERATOR)
    token = (await provider.tokens(person, scope="fleet:write offline_access"))["refresh_token"]
    async with provider.resources.database.transaction() as session:
        statement = update(Account).where(Account.id == person.account_id).values(role=Role.VIEWER)
        await session.execute(statement)
    answer = await provider.refresh(token, scope="fleet:write")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")


async def test_e8_an_access_token_lives_its_own_life(provider: Provider, ada: Person) -> None:
    """Our policy: rotation ends no access token; revocation of the family does, at once."""
    tokens = await provider.tokens(ada)
    await provider.refresh(tokens["refresh_token"])
    provider.clock.turn(minutes=9, seconds=59)
    assert (await provider.introspect(tokens["access_token"]))["active"] is True
    provider.clock.turn(seconds=1)
    assert (await provider.introspect(tokens["access_token"])) == {"active": False}
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401


@pytest.mark.parametrize("event", ["disabled", "reset", "consent withdrawn", "revoked"])
async def test_e9_what_ends_a_family(provider: Provider, event: str) -> None:
    person = await provider.person(Role.OPERATOR)
    tokens = await provider.tokens(person, SHOP)
    if event == "consent withdrawn":
        signed_in = await provider.signed_in(person)
        async with provider.resources.database.transaction() as session:
            service = authorization_service(provider.app.state.tokens, session)
            await service.withdraw_consent(signed_in, SHOP)
    elif event == "revoked":
        form = {**provider.authentication(SHOP), "token": tokens["refresh_token"]}
        assert (await provider.http.post("/auth/revoke", data=form)).status_code == 200
    else:
        async with provider.accounts() as accounts:
            if event == "disabled":
                await accounts.disable(SYSTEM, person.account_id)
            else:
                await accounts.reset_credentials(person.account_id)
    assert (await provider.refresh(tokens["refresh_token"], SHOP)).json()["error"] == "invalid_grant"
    assert (await provider.introspect(tokens["access_token"], SHOP)) == {"active": False}
    assert (await provider.introspect(tokens["refresh_token"], SHOP)) == {"active": False}


async def test_e9_a_reset_spares_the_session_that_did_it(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    async with provider.accounts() as accounts:
        await accounts.reset_credentials(ada.account_id, ada.session_id)
    assert (await provider.refresh(tokens["refresh_token"])).status_code == 200


async def test_e9_the_end_of_a_session_ends_what_is_not_offline(provider: Provider, ada: Person) -> None:
    online = await provider.tokens(ada, scope="openid fleet:read")
    offline = await provider.tokens(ada)
    await provider.end_session(ada)
    assert (await provider.introspect(online["access_token"])) == {"active": False}
    assert (await provider.refresh(offline["refresh_token"])).status_code == 200


async def test_e9_a_smaller_role_makes_smaller_tokens(provider: Provider) -> None:
    person = await provider.person(Role.OPERATOR)
    tokens = await provider.tokens(person, scope="openid offline_access fleet:read fleet:write")
    async with provider.accounts() as accounts:
        await accounts.change_role(SYSTEM, person.account_id, Role.VIEWER)
    told = await provider.introspect(tokens["access_token"])
    assert (told["scope"], told["role"]) == ("openid offline_access fleet:read", "viewer")
    refreshed = (await provider.refresh(tokens["refresh_token"])).json()
    assert refreshed["scope"] == "openid offline_access fleet:read"


async def test_e10_a_refreshed_id_token(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    before = await provider.read(tokens["id_token"])
    provider.clock.turn(hours=3)
    after = await provider.read((await provider.refresh(tokens["refresh_token"])).json()["id_token"])
    for name in ("iss", "sub", "aud", "auth_time", "sid", "amr"):
        assert after[name] == before[name]
    assert after["iat"] == before["iat"] + 3 * 3600
    assert after["amr"] == list(PASSKEY)
    assert "nonce" not in after
