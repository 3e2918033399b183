"""Authorization codes: used once, by their client, in time. Rows C1 to C6, C8, C9."""

import asyncio
import re

import pytest
from structlog.testing import capture_logs

from shared.kernel.principal import SYSTEM, Role
from shared.kernel.secrets import digest_of, identify
from tests.conformance.auth.provider.provider import (
    ABSENT,
    PORTAL,
    SHOP,
    SHOP_URI,
    TOOL,
    Person,
    Pkce,
    Provider,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("client", [PORTAL, SHOP, TOOL])
async def test_c1_a_replay_ends_everything_that_came_of_the_code(
    provider: Provider, ada: Person, client: str
) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, client)
    first = (await provider.redeem(code, pkce, client)).json()
    second = (await provider.refresh(first["refresh_token"], client)).json()
    replay = await provider.redeem(code, pkce, client)
    assert (replay.status_code, replay.json()["error"]) == (400, "invalid_grant")
    for tokens in (first, second):
        assert (await provider.refresh(tokens["refresh_token"], client)).json()["error"] == "invalid_grant"
        assert (await provider.introspect(tokens["access_token"])) == {"active": False}
        assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    assert [row[1] for row in await provider.grants(ada)] == ["code_replayed"]
    assert "grant.revoked" in await provider.actions(ada)


async def test_c1_the_family_remembers_a_code_that_its_store_forgot(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    tokens = (await provider.redeem(code, pkce)).json()
    await provider.execute("DELETE FROM oauth_codes WHERE digest = :digest", digest=digest_of(code))
    assert (await provider.redeem(code, pkce)).json()["error"] == "invalid_grant"
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_c1_a_replay_after_the_code_s_life_still_ends_the_family(
    provider: Provider, ada: Person
) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    tokens = (await provider.redeem(code, pkce)).json()
    provider.clock.turn(seconds=130)
    assert (await provider.redeem(code, pkce)).json()["error"] == "invalid_grant"
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("client", [PORTAL, TOOL])
async def test_c2_one_of_twenty_parallel_redemptions(provider: Provider, ada: Person, client: str) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, client)
    answers = await asyncio.gather(*(provider.redeem(code, pkce, client) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 19
    assert {answer.json()["error"] for answer in answers if answer.status_code == 400} == {"invalid_grant"}
    won = next(answer.json() for answer in answers if answer.status_code == 200)
    # The others are replays, so what the winner got is dead as well.
    assert (await provider.introspect(won["access_token"])) == {"active": False}


async def test_c3_a_code_is_its_client_s(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, SHOP)
    for other in (TOOL, PORTAL):
        stolen = await provider.redeem(code, pkce, other, redirect_uri=SHOP_URI)
        assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    tokens = await provider.redeem(code, pkce, SHOP)
    assert tokens.status_code == 200
    assert (await provider.redeem(code, pkce, TOOL, redirect_uri=SHOP_URI)).status_code == 400
    assert (await provider.introspect(tokens.json()["access_token"]))["active"] is True


@pytest.mark.parametrize("address", [ABSENT, "", "https://evil.example/cb", f"{SHOP_URI}/", f"{SHOP_URI}?"])
async def test_c4_a_code_is_bound_to_its_address(provider: Provider, ada: Person, address: str) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, SHOP)
    refused = await provider.redeem(code, pkce, SHOP, redirect_uri=address)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert (await provider.redeem(code, pkce, SHOP)).status_code == 200


async def test_c4_also_where_the_request_omitted_it(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, SHOP, redirect_uri=ABSENT)
    refused = await provider.redeem(code, pkce, SHOP, redirect_uri="https://evil.example/cb")
    assert refused.json()["error"] == "invalid_grant"
    assert (await provider.redeem(code, pkce, SHOP, redirect_uri=ABSENT)).status_code == 200


async def test_c5_the_request_s_own_address_counts(provider: Provider, ada: Person) -> None:
    both = [SHOP_URI, "https://shop.example/other"]
    await provider.register(None, client_id="two", redirect_uris=both)
    pkce = Pkce()
    code = await provider.code(ada, pkce, client_id="two", redirect_uri=both[0])
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": pkce.verifier}
    refused = await provider.token("two", redirect_uri=both[1], **form)
    assert refused.json()["error"] == "invalid_grant"
    assert (await provider.token("two", redirect_uri=both[0], **form)).status_code == 200


async def test_c6_a_code_lives_for_two_minutes(provider: Provider, ada: Person) -> None:
    pkce, late = Pkce(), Pkce()
    code, forgotten = await provider.code(ada, pkce), await provider.code(ada, late)
    provider.clock.turn(seconds=119)
    assert (await provider.redeem(code, pkce)).status_code == 200
    provider.clock.turn(seconds=1)
    assert (await provider.redeem(forgotten, late)).json()["error"] == "invalid_grant"
    # It was never used, so nothing is revoked for it.
    assert all(reason is None for _, reason in await provider.grants(ada))


async def test_c8_a_code_is_long_and_its_prefix_tells_what_it_is(provider: Provider, ada: Person) -> None:
    codes = {await provider.code(ada, Pkce()) for _ in range(4)}
    assert len(codes) == 4
    for code in codes:
        # 43 characters of base64url are 256 bits; the id names the store that keeps it.
        assert re.fullmatch(r"rlc_s[0-9a-z]{11}_[A-Za-z0-9_-]{43}", code)
        assert identify(code, "rlc") is not None


async def test_c8_only_hashes_are_kept_and_nothing_is_logged(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    with capture_logs() as logged:
        code = await provider.code(ada, pkce)
        tokens = (await provider.redeem(code, pkce)).json()
        await provider.redeem(code, pkce)
    secrets = [code, tokens["refresh_token"], tokens["access_token"], pkce.verifier]
    assert not any(secret in repr(logged) for secret in secrets)
    for table in ("oauth_codes", "grants", "refresh_tokens", "audit_events"):
        kept = await provider.kept(f"SELECT * FROM {table}")  # noqa: S608 - names of ours
        assert not any(secret in kept for secret in secrets)
    assert await provider.rows("SELECT 1 FROM oauth_codes WHERE digest = :d", d=digest_of(code))


@pytest.mark.parametrize("event", ["disabled", "reset", "signed out"])
async def test_c9_what_ends_the_person_s_session_ends_the_code(provider: Provider, event: str) -> None:
    person = await provider.person(Role.OPERATOR)
    pkce = Pkce()
    code = await provider.code(person, pkce)
    if event == "signed out":
        await provider.end_session(person)
    else:
        async with provider.accounts() as accounts:
            if event == "reset":
                await accounts.reset_credentials(person.account_id)
            else:
                await accounts.disable(SYSTEM, person.account_id)
    refused = await provider.redeem(code, pkce)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


async def test_c9_a_session_that_grew_old_ends_its_codes(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    statement = "UPDATE sessions SET expires_at = created_at WHERE account_id = :owner"
    await provider.execute(statement, owner=provider.stored(ada.account_id))
    assert (await provider.redeem(code, pkce)).json()["error"] == "invalid_grant"
