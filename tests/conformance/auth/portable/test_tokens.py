"""Token endpoint, refreshing, revocation and introspection over plain HTTP, on ours and on others."""

import asyncio
import re

import httpx2
import pytest

from tests.conformance.auth.targets.target import (
    ABSENT,
    GUEST,
    HOUSE,
    ODD,
    ONCE,
    RIVAL,
    SHOP,
    TOOL,
    Client,
    Pkce,
    Target,
    Visitor,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIENTS = pytest.mark.parametrize("client", [TOOL, SHOP], ids=["public", "confidential"])
GUESS = {"grant_type": "refresh_token", "refresh_token": "made-up"}
ENDPOINTS = pytest.mark.parametrize("endpoint", ["token", "revocation", "introspection"])


@pytest.fixture(autouse=True)
def earlier_failures_forgotten(target: Target) -> None:
    for _ in range(300):
        target.tick()


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_d1_only_by_post_as_a_form(target: Target) -> None:
    got = await target.http.get(target.endpoint("token"))
    assert got.status_code in {404, 405}
    in_json = await target.http.post(target.endpoint("token"), json=GUESS, headers=target.basic(SHOP))
    assert 400 <= in_json.status_code < 500


@pytest.mark.parametrize("moved", ["grant_type", "code", "client_secret"])
async def test_d1_nothing_in_the_address(target: Target, ada: Visitor, moved: str) -> None:
    pkce = Pkce()
    form = {
        "grant_type": "authorization_code",
        "code": await target.code(ada, SHOP, pkce),
        "code_verifier": pkce.verifier,
        "redirect_uri": target.address_of(SHOP),
        "client_id": target.id_of(SHOP),
        "client_secret": target.secret_of(SHOP) or "",
    }
    kept = {name: value for name, value in form.items() if name != moved}
    answer = await target.http.post(target.endpoint("token"), data=kept, params={moved: form[moved]})
    assert 400 <= answer.status_code < 500


async def test_d2_a_repeated_parameter(target: Target) -> None:
    form = {"grant_type": "authorization_code", "code": ["x", "y"]}
    assert error_of(await target.call("token", SHOP, form)) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("grant_type", "error"),
    [
        (ABSENT, "invalid_request"),
        ("password", "unsupported_grant_type"),
        ("é\N{SNOWMAN}", "unsupported_grant_type"),
    ],
)
async def test_d3_grant_types(target: Target, grant_type: str, error: str) -> None:
    answer = await target.call("token", SHOP, {**GUESS, "grant_type": grant_type})
    assert error_of(answer) == (400, error)


async def test_d4_nothing_is_kept(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    good = await target.redeem(HOUSE, await target.code(ada, HOUSE, pkce), pkce)
    for answer in (good, await target.call("token", SHOP, GUESS)):
        assert "no-store" in answer.headers["cache-control"]


async def test_d4_also_by_the_oldest_caches(target: Target) -> None:
    assert (await target.call("token", SHOP, GUESS)).headers["pragma"] == "no-cache"


@ENDPOINTS
async def test_d5_a_failed_authentication(target: Target, endpoint: str) -> None:
    form = {**GUESS, "token": "made-up"}
    headers = target.basic(SHOP, "wrong")
    answer = await target.http.post(target.endpoint(endpoint), data=form, headers=headers)
    assert error_of(answer) == (401, "invalid_client")
    assert answer.headers["www-authenticate"].startswith("Basic ")


@CLIENTS
async def test_d5_a_bad_grant(target: Target, client: Client) -> None:
    assert error_of(await target.call("token", client, GUESS)) == (400, "invalid_grant")


async def test_d6_plain_descriptions(target: Target) -> None:
    odd = 'é"\\\N{SNOWMAN}'
    described = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]*")
    for form in ({**GUESS, "grant_type": odd}, {**GUESS, "refresh_token": odd}, {**GUESS, odd: odd}):
        answer = await target.call("token", SHOP, form)
        assert described.fullmatch(answer.json().get("error_description", ""))


async def test_d7_two_ways_at_once(target: Target) -> None:
    both = {**GUESS, "client_id": target.id_of(SHOP), "client_secret": target.secret_of(SHOP)}
    assert error_of(await target.call("token", SHOP, both)) == (400, "invalid_request")


async def test_d8_both_halves_are_decoded(target: Target) -> None:
    assert error_of(await target.call("token", ODD, GUESS)) == (400, "invalid_grant")


@ENDPOINTS
async def test_d9_a_secret_is_shown_everywhere(target: Target, ada: Visitor, endpoint: str) -> None:
    tokens = await target.tokens(ada, SHOP)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": tokens["refresh_token"],
        "token": tokens["refresh_token"],
        "client_id": target.id_of(SHOP),
    }
    answer = await target.http.post(target.endpoint(endpoint), data=form)
    assert error_of(answer) == (401, "invalid_client")
    assert (await target.refresh(SHOP, tokens["refresh_token"])).status_code == 200


async def test_d10_a_grant_type_that_is_not_the_client_s(target: Target) -> None:
    assert error_of(await target.call("token", ONCE, GUESS)) == (400, "unauthorized_client")


async def test_d11_an_unknown_client(target: Target) -> None:
    unknown = Client("nobody", "x")
    one = await target.call("token", unknown, GUESS)
    other = await target.http.post(target.endpoint("token"), data=GUESS, headers=target.basic(SHOP, "wrong"))
    assert (one.status_code, one.json()) == (other.status_code, other.json())


async def test_d12_guessing_is_slowed(target: Target) -> None:
    headers = [target.basic(GUESSED, f"guess-{number}") for number in range(50)]
    answers = [await target.http.post(target.endpoint("token"), data=GUESS, headers=each) for each in headers]
    assert answers[-1].status_code == 429


GUESSED = Client("guessed-by-everybody", "x")


async def test_d13_the_answer(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    assert tokens.keys() >= {"access_token", "token_type", "expires_in", "id_token", "refresh_token"}
    assert tokens["token_type"] == "Bearer"
    assert isinstance(tokens["expires_in"], int)
    assert "refresh_token" not in await target.tokens(ada, SHOP, scope="openid")


async def test_e1_public_clients_get_a_new_one(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, TOOL))["refresh_token"]
    again = await target.refresh(TOOL, token)
    assert again.json()["refresh_token"] != token


async def test_e2_a_replay_ends_the_newest(target: Target, ada: Visitor) -> None:
    first = (await target.tokens(ada, TOOL))["refresh_token"]
    newest = (await target.refresh(TOOL, first)).json()
    for _ in range(6):
        target.tick()
    assert error_of(await target.refresh(TOOL, first)) == (400, "invalid_grant")
    assert error_of(await target.refresh(TOOL, newest["refresh_token"])) == (400, "invalid_grant")
    assert await target.is_dead(newest["access_token"])


async def test_e3_a_lost_answer(target: Target, ada: Visitor) -> None:
    parent = (await target.tokens(ada, TOOL))["refresh_token"]
    answer = (await target.refresh(TOOL, parent)).json()
    again = await target.refresh(TOOL, parent)
    assert (again.status_code, again.json()) == (200, answer)


async def test_e4_parallel_uses(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, TOOL))["refresh_token"]
    answers = await asyncio.gather(*(target.refresh(TOOL, token) for _ in range(20)))
    assert {answer.status_code for answer in answers} <= {200, 400}
    assert len({answer.json()["refresh_token"] for answer in answers if answer.status_code == 200}) <= 1


async def test_e5_another_client(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, SHOP))["refresh_token"]
    assert error_of(await target.refresh(RIVAL, token)) == (400, "invalid_grant")
    assert (await target.refresh(SHOP, token)).status_code == 200


async def test_e6_fewer_and_never_more(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, TOOL, scope="openid profile offline_access"))["refresh_token"]
    narrow = (await target.refresh(TOOL, token, scope="openid")).json()
    assert narrow["scope"] == "openid"
    wider = await target.refresh(TOOL, narrow["refresh_token"], scope="openid fleet:read")
    assert error_of(wider) == (400, "invalid_scope")
    whole = (await target.refresh(TOOL, narrow["refresh_token"])).json()
    assert set(whole["scope"].split()) == {"openid", "profile", "offline_access"}


async def test_e7_a_token_unused_for_a_year(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, TOOL))["refresh_token"]
    target.later(366 * 24 * 3600)
    assert error_of(await target.refresh(TOOL, token)) == (400, "invalid_grant")


async def test_e8_rotation_leaves_access_tokens(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, TOOL)
    assert (await target.refresh(TOOL, tokens["refresh_token"])).status_code == 200
    assert (await target.userinfo(tokens["access_token"])).status_code == 200


async def test_e10_a_refreshed_id_token(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, TOOL, max_age="3600")
    target.tick()
    again = await target.read((await target.refresh(TOOL, tokens["refresh_token"])).json()["id_token"])
    before = await target.read(tokens["id_token"])
    for claim in ("iss", "sub", "aud", "auth_time"):
        assert again[claim] == before[claim]


async def test_e11_revoking_beside_refreshing(target: Target, ada: Visitor) -> None:
    for _ in range(5):
        tokens = await target.tokens(ada, TOOL)
        refreshed, _ = await asyncio.gather(
            target.refresh(TOOL, tokens["refresh_token"]),
            target.call("revocation", TOOL, {"token": tokens["refresh_token"]}),
        )
        for answer in [tokens] + ([refreshed.json()] if refreshed.status_code == 200 else []):
            assert await target.is_dead(answer["access_token"])
            assert (await target.refresh(TOOL, answer["refresh_token"])).status_code == 400


async def test_f1_an_unknown_token(target: Target) -> None:
    answer = await target.call("revocation", SHOP, {"token": "made-up"})
    assert (answer.status_code, answer.content) == (200, b"")


async def test_f2_another_client_s_token(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    for token in (tokens["refresh_token"], tokens["access_token"]):
        assert (await target.call("revocation", RIVAL, {"token": token})).status_code in {200, 400}
    assert (await target.userinfo(tokens["access_token"])).status_code == 200
    assert (await target.refresh(SHOP, tokens["refresh_token"])).status_code == 200


async def test_f3_a_public_client(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, TOOL)
    assert (await target.call("revocation", TOOL, {"token": tokens["refresh_token"]})).status_code == 200
    assert (await target.refresh(TOOL, tokens["refresh_token"])).status_code == 400


async def test_f4_the_family_ends(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    assert (await target.call("revocation", SHOP, {"token": tokens["refresh_token"]})).status_code == 200
    assert (await target.userinfo(tokens["access_token"])).status_code == 401


@pytest.mark.parametrize("hint", ["access_token", "nonsense"])
async def test_f5_a_hint_that_is_wrong(target: Target, ada: Visitor, hint: str) -> None:
    tokens = await target.tokens(ada, SHOP)
    form = {"token": tokens["refresh_token"], "token_type_hint": hint}
    answer = await target.call("revocation", SHOP, form)
    assert answer.status_code == 200 or answer.json()["error"] == "unsupported_token_type"
    if answer.status_code == 200:
        assert (await target.refresh(SHOP, tokens["refresh_token"])).status_code == 400


async def test_f7_only_by_post_and_with_a_token(target: Target) -> None:
    assert (await target.http.get(target.endpoint("revocation"))).status_code in {404, 405}
    assert error_of(await target.call("revocation", SHOP, {"x": "y"})) == (400, "invalid_request")


async def test_g1_callers_authenticate(target: Target) -> None:
    answer = await target.http.post(target.endpoint("introspection"), data={"token": "made-up"})
    assert answer.status_code in {400, 401}


@pytest.mark.parametrize("token", ["made-up", "é", "a.b.c", "x" * 3000])
async def test_g2_what_is_no_token(target: Target, token: str) -> None:
    assert (await target.introspect(SHOP, token)) == {"active": False}


async def test_g2_what_was_revoked(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    await target.call("revocation", SHOP, {"token": tokens["refresh_token"]})
    assert (await target.introspect(SHOP, tokens["refresh_token"])) == {"active": False}


async def test_g3_neither_owner_nor_audience(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    for token in (tokens["refresh_token"], tokens["access_token"]):
        assert (await target.introspect(RIVAL, token)) == {"active": False}


async def test_g4_an_active_token(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    told = await target.introspect(SHOP, tokens["access_token"])
    assert told["active"] is True
    assert told.keys() >= {"scope", "client_id", "sub", "iss", "exp", "iat"}
    assert told["client_id"] == target.id_of(SHOP)


async def test_g1_a_public_client_is_no_authentication(target: Target, ada: Visitor) -> None:
    """A name alone tells nothing about tokens of others."""
    tokens = await target.tokens(ada, SHOP)
    form = {"token": tokens["access_token"], "client_id": target.id_of(GUEST)}
    answer = await target.http.post(target.endpoint("introspection"), data=form)
    assert answer.status_code == 401 or answer.json() == {"active": False}
