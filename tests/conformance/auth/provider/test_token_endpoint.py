"""The token endpoint and how clients authenticate. Rows D1 to D13."""

import asyncio
import base64
import re
from collections.abc import Mapping
from urllib.parse import quote_plus

import httpx2
import pytest

from tests.conformance.auth.provider.provider import (
    ABSENT,
    ORIGIN,
    PORTAL,
    PORTAL_URI,
    SHOP,
    SHOP_SECRET,
    SHOP_URI,
    TOOL,
    Person,
    Pkce,
    Provider,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATHS = ["/auth/token", "/auth/revoke", "/auth/introspect"]


@pytest.fixture(autouse=True)
def earlier_failures_forgotten(provider: Provider) -> None:
    provider.clock.turn(minutes=6)


def basic(client_id: str, secret: str) -> dict[str, str]:
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def ask(
    provider: Provider, _headers: Mapping[str, str] | None = None, /, **form: str
) -> httpx2.Response:
    sent = {"grant_type": "refresh_token", "refresh_token": "rlr_none", **form}
    body = {name: value for name, value in sent.items() if value != ABSENT}
    return await provider.http.post("/auth/token", data=body, headers=_headers or {})


async def test_d1_a_form_by_post_and_nothing_else(provider: Provider) -> None:
    got = await provider.http.get("/auth/token")
    assert (got.status_code, got.headers["allow"]) == (405, "POST")
    credentials = provider.authentication(SHOP)
    in_json = await provider.http.post("/auth/token", json={"grant_type": "refresh_token", **credentials})
    assert (in_json.status_code, in_json.json()["error"]) == (400, "invalid_request")


async def test_d1_parameters_of_the_address_are_not_honoured(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce, SHOP)
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": pkce.verifier,
        "redirect_uri": SHOP_URI,
        **provider.authentication(SHOP),
    }
    for moved in ("client_secret", "grant_type", "code"):
        kept = {name: value for name, value in form.items() if name != moved}
        answer = await provider.http.post("/auth/token", data=kept, params={moved: form[moved]})
        assert answer.status_code == 400
        assert answer.json()["error"] == "invalid_request"
    assert (await provider.http.post("/auth/token", params=form)).status_code == 400
    assert (await provider.http.post("/auth/token", data=form)).status_code == 200


@pytest.mark.parametrize("name", ["code", "client_id", "grant_type", "unknown"])
async def test_d2_a_repeated_parameter(provider: Provider, name: str) -> None:
    form = {"grant_type": "authorization_code", "code": "x", "unknown": "x", **provider.authentication(SHOP)}
    answer = await provider.http.post("/auth/token", data={**form, name: [form[name], form[name]]})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("grant_type", "error"),
    [
        (ABSENT, "invalid_request"),
        ("", "invalid_request"),
        ("password", "unsupported_grant_type"),
        ("client_credentials", "unauthorized_client"),
        ("é\N{SNOWMAN}", "unsupported_grant_type"),
    ],
)
async def test_d3_grant_types(provider: Provider, grant_type: str, error: str) -> None:
    answer = await ask(provider, grant_type=grant_type, **provider.authentication(SHOP))
    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"grant_type=%FF", b"%00=%00", b"a" * 70_000, b"a&" * 200])
async def test_d3_what_cannot_be_read_is_no_fault_of_ours(provider: Provider, body: bytes) -> None:
    for path in PATHS:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await provider.http.post(path, content=body, headers=headers)
        assert answer.status_code in {400, 401}


async def test_d4_nothing_is_kept(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    good = await provider.redeem(await provider.code(ada, pkce), pkce)
    bad = await ask(provider)
    told = await provider.userinfo(good.json()["access_token"])
    for answer in (good, bad, told):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["pragma"] == "no-cache"


@pytest.mark.parametrize("path", PATHS)
async def test_d5_a_failed_authentication(provider: Provider, path: str) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x"}
    for headers, added in (
        (basic(SHOP, "wrong"), {}),
        (basic("nobody", "x"), {}),
        ({"Authorization": "Basic !"}, {}),
        ({"Authorization": "Basic " + base64.b64encode(b"no colon").decode()}, {}),
        ({"Authorization": "Basic " + base64.b64encode(b"a%00b:\xff").decode()}, {}),
        ({"Authorization": "Bearer x"}, {}),
        ({}, {"client_id": SHOP, "client_secret": "wrong"}),
        ({}, {"client_id": "nobody"}),
        ({}, {}),
    ):
        answer = await provider.http.post(path, data={**form, **added}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith("Basic ")


async def test_d5_a_bad_grant_is_400_however_the_client_authenticates(provider: Provider) -> None:
    for headers, added in (
        (basic(SHOP, SHOP_SECRET), {}),
        ({}, provider.authentication(SHOP)),
        ({}, provider.authentication(TOOL)),
    ):
        answer = await ask(provider, headers, **added)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


async def test_d6_descriptions_have_plain_characters(provider: Provider) -> None:
    odd = 'é"\\\N{SNOWMAN}'
    described = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]*")
    for form in ({"grant_type": odd}, {"refresh_token": odd}, {"client_id": odd}, {"scope": odd, odd: odd}):
        answer = await ask(provider, **{**provider.authentication(SHOP), **form})
        assert described.fullmatch(answer.json()["error_description"])
    answer = await provider.userinfo('x"\\')
    assert described.fullmatch(answer.json()["error_description"])


async def test_d7_two_ways_at_once(provider: Provider) -> None:
    for added in (
        {"client_secret": SHOP_SECRET},
        {"client_id": SHOP, "client_secret": SHOP_SECRET},
        {"client_id": TOOL},
    ):
        answer = await ask(provider, basic(SHOP, SHOP_SECRET), **added)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    named_twice_the_same = await ask(provider, basic(SHOP, SHOP_SECRET), client_id=SHOP)
    assert named_twice_the_same.json()["error"] == "invalid_grant"


async def test_d7_two_headers_at_once(provider: Provider) -> None:
    headers = [*basic(SHOP, SHOP_SECRET).items()] * 2
    for path in PATHS:
        answer = await provider.http.post(path, data={"token": "x"}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_d8_both_halves_of_basic_are_decoded(provider: Provider) -> None:
    client_id, secret = "a:b c%+&", 'p:%2B +"é'
    await provider.register(secret, client_id=client_id)
    assert (await ask(provider, basic(client_id, secret))).json()["error"] == "invalid_grant"
    assert (await ask(provider, basic(client_id, secret + "x"))).json()["error"] == "invalid_client"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("secret", [ABSENT, ""])
async def test_d9_a_confidential_client_shows_its_secret_everywhere(
    provider: Provider, ada: Person, path: str, secret: str
) -> None:
    pkce = Pkce()
    tokens = await provider.tokens(ada, SHOP)
    code = await provider.code(ada, pkce, SHOP)
    for form in (
        {"grant_type": "authorization_code", "code": code, "code_verifier": pkce.verifier},
        {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]},
        {"token": tokens["refresh_token"]},
    ):
        sent = {**form, "client_id": SHOP, "redirect_uri": SHOP_URI, "client_secret": secret}
        body = {name: value for name, value in sent.items() if value != ABSENT}
        answer = await provider.http.post(path, data=body)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert (await provider.redeem(code, pkce, SHOP)).status_code == 200
    assert (await provider.refresh(tokens["refresh_token"], SHOP)).status_code == 200


async def test_d9_a_public_client_has_no_secret(provider: Provider) -> None:
    answer = await ask(provider, client_id=TOOL, client_secret="anything")
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


async def test_d10_a_grant_that_the_client_may_not_use(provider: Provider, ada: Person) -> None:
    await provider.register(client_id="once", grant_types=["authorization_code"])
    answer = await ask(provider, client_id="once", client_secret=SHOP_SECRET)
    assert (answer.status_code, answer.json()["error"]) == (400, "unauthorized_client")
    pkce = Pkce()
    code = await provider.code(ada, pkce, client_id="once", redirect_uri=SHOP_URI)
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": pkce.verifier}
    tokens = await provider.token("once", client_secret=SHOP_SECRET, redirect_uri=SHOP_URI, **form)
    assert tokens.status_code == 200
    assert "refresh_token" not in tokens.json()
    assert "offline_access" not in tokens.json()["scope"]


async def test_d11_an_unknown_client_looks_like_a_wrong_secret(provider: Provider) -> None:
    for one, other in (
        (await ask(provider, basic("nobody", "x")), await ask(provider, basic(SHOP, "x"))),
        (
            await ask(provider, client_id="nobody", client_secret="x"),
            await ask(provider, client_id=SHOP, client_secret="x"),
        ),
        (await ask(provider, client_id="nobody"), await ask(provider, client_id=SHOP)),
    ):
        assert (one.status_code, one.json()) == (other.status_code, other.json())
        assert one.headers["www-authenticate"] == other.headers["www-authenticate"]


@pytest.mark.parametrize("client_id", ["guessed", "guessed-but-unknown"])
async def test_d12_guessing_is_throttled(provider: Provider, client_id: str) -> None:
    await provider.register(SHOP_SECRET, client_id="guessed")
    answers = [await ask(provider, basic(client_id, f"guess-{number}")) for number in range(50)]
    assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 30
    assert int(answers[-1].headers["retry-after"]) > 0
    # Nobody else is locked out by it, and it passes.
    assert (await ask(provider, basic(SHOP, SHOP_SECRET))).status_code == 400
    provider.clock.turn(minutes=5)
    assert (await ask(provider, basic(client_id, "guess"))).status_code == 401


async def test_d12_o1_a_network_of_ipv6_is_one_address(provider: Provider) -> None:
    name = f"guessed-from-{provider.resources.database.dialect}"
    await provider.register(SHOP_SECRET, client_id=name)

    async def guess(address: str) -> int:
        transport = httpx2.ASGITransport(app=provider.app, client=(address, 40000))
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
            answer = await http.post("/auth/introspect", data={"token": "x"}, headers=basic(name, "guess"))
            return answer.status_code

    assert {await guess(f"2001:db8:0:1::{number:x}") for number in range(20)} == {401}
    assert await guess("2001:db8:0:1:ffff::1") == 429
    assert await guess("2001:db8:0:2::1") == 401


async def test_d12_also_in_parallel(provider: Provider) -> None:
    await provider.register(SHOP_SECRET, client_id="rushed")
    answers = await asyncio.gather(*(ask(provider, basic("rushed", "x")) for _ in range(50)))
    assert [answer.status_code for answer in answers].count(429) == 30
    provider.clock.turn(minutes=5)


async def test_d13_the_answer(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    assert set(tokens) == {
        "access_token",
        "token_type",
        "expires_in",
        "scope",
        "id_token",
        "refresh_token",
    }
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 600)
    assert isinstance(tokens["expires_in"], int)
    assert tokens["refresh_token"].startswith("rlr_")


async def test_d13_refreshing_and_identity_only_where_granted(provider: Provider, ada: Person) -> None:
    assert "refresh_token" not in await provider.tokens(ada, scope="openid")
    assert "id_token" not in await provider.tokens(ada, scope="fleet:read")


async def test_d13_the_session_s_cookie_is_no_authority_here(provider: Provider, ada: Person) -> None:
    """A browser's cookies change nothing: no token of a form is asked for, and no client is known by them."""
    pkce = Pkce()
    form = {
        "grant_type": "authorization_code",
        "code": await provider.code(ada, pkce),
        "code_verifier": pkce.verifier,
        "redirect_uri": PORTAL_URI,
    }
    assert (await ada.browser.post("/auth/token", data=form)).json()["error"] == "invalid_client"
    good = await ada.browser.post("/auth/token", data={**form, **provider.authentication(PORTAL)})
    assert good.status_code == 200
