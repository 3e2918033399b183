"""The authorization endpoint over plain HTTP, on ours and on others."""

import pytest

from tests.conformance.auth.targets.target import (
    ABSENT,
    GUEST,
    HOUSE,
    ODD,
    RIVAL,
    SHOP,
    TOOL,
    Client,
    Pkce,
    Target,
    Visitor,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVIL = "https://evil.example/cb"


async def test_a1_get_and_post(target: Target, ada: Visitor) -> None:
    sent = target.wanted(HOUSE, Pkce())
    posted = await ada.browser.post(target.endpoint("authorization"), data=sent)
    outcome = await target.outcome_of(ada, posted)
    assert outcome.told.keys() >= {"code", "state", "iss"}


@pytest.mark.parametrize(
    ("response_type", "error"),
    [
        (ABSENT, "invalid_request"),
        ("token", "unsupported_response_type"),
        ('é"', "unsupported_response_type"),
    ],
)
async def test_a2_a_response_type_that_is_not_there(
    target: Target, ada: Visitor, response_type: str, error: str
) -> None:
    outcome = await target.ask(ada, HOUSE, response_type=response_type)
    assert outcome.address.startswith(HOUSE.redirect_uris[0])
    assert (outcome.error, outcome.told["state"], outcome.told["iss"]) == (error, "st-1", target.issuer)


@pytest.mark.parametrize("name", ["state", "scope", "redirect_uri", "client_id"])
async def test_a3_a_repeated_parameter(target: Target, ada: Visitor, name: str) -> None:
    sent = target.wanted(HOUSE, Pkce())
    outcome = await target.ask_with(ada, {**sent, name: [sent[name], "again"]})
    assert "code" not in outcome.told
    assert outcome.error == "invalid_request" or outcome.answer.status_code == 400


async def test_a4_an_unknown_parameter(target: Target, ada: Visitor) -> None:
    assert "code" in (await target.agreed(ada, HOUSE, foo="bar")).told


async def test_a5_an_empty_value(target: Target, ada: Visitor) -> None:
    assert (await target.ask(ada, HOUSE, code_challenge="")).error == "invalid_request"
    assert "state" not in (await target.agreed(ada, HOUSE, state="")).told


@pytest.mark.parametrize("changes", [{"client_id": "nobody"}, {"client_id": ABSENT}, {"redirect_uri": EVIL}])
async def test_a6_an_unknown_client_or_address(target: Target, ada: Visitor, changes: dict[str, str]) -> None:
    outcome = await target.ask(ada, HOUSE, **{"redirect_uri": EVIL, **changes})
    assert (outcome.kind, outcome.answer.status_code) == ("page", 400)
    assert 'href="https://evil' not in outcome.answer.text


@pytest.mark.parametrize(
    "address",
    [
        "https://shop.example/cb/",
        "https://shop.example/cb?evil=1",
        "https://shop.example/%2e%2e/cb",
        "https://shop.example/x/..;/cb",
        "https://shop.example/CB",
        "https://evil@shop.example/cb",
        "https://shop.example@evil.example@shop.example/cb",
        "https://shop.example:8443/cb",
        "https://shop.example/cb#f",
        "https://shop.example\\@evil.example/cb",
        "https://shop.example\N{IDEOGRAPHIC FULL STOP}evil.example/cb",
    ],
)
async def test_a7_an_address_that_differs(target: Target, ada: Visitor, address: str) -> None:
    outcome = await target.ask(ada, SHOP, redirect_uri=address)
    assert (outcome.kind, outcome.answer.status_code) == ("page", 400)


@pytest.mark.parametrize("port", [":1024", ":53219"])
async def test_a8_any_port_of_loopback(target: Target, ada: Visitor, port: str) -> None:
    address = f"http://127.0.0.1{port}/cb"
    outcome = await target.agreed(ada, TOOL, redirect_uri=address)
    assert outcome.address.startswith(f"{address}?code=")


@pytest.mark.parametrize("address", ["https://127.0.0.1:53219/cb", "http://127.0.0.1:53219/other"])
async def test_a8_nothing_else_of_loopback(target: Target, ada: Visitor, address: str) -> None:
    outcome = await target.ask(ada, TOOL, redirect_uri=address)
    assert (outcome.kind, outcome.answer.status_code) == ("page", 400)


async def test_a10_a_registered_query(target: Target, ada: Visitor) -> None:
    outcome = await target.agreed(ada, ODD)
    assert outcome.address.startswith("https://shop.example/cb?x=1&code=")


@pytest.mark.parametrize("state", ["&=+% /?#", "a" * 2048, "\N{SNOWMAN} ünï", "%41%2B"])
async def test_a11_the_state(target: Target, ada: Visitor, state: str) -> None:
    assert (await target.agreed(ada, HOUSE, state=state)).told["state"] == state
    assert (await target.ask(ada, HOUSE, state=state, response_type="token")).told["state"] == state


async def test_a12_the_issuer(target: Target, ada: Visitor) -> None:
    assert (await target.agreed(ada, HOUSE)).told["iss"] == target.issuer
    assert (await target.ask(ada, HOUSE, response_type="token")).told["iss"] == target.issuer
    assert target.metadata["authorization_response_iss_parameter_supported"] is True


async def test_a13_nothing_to_grant(target: Target, ada: Visitor) -> None:
    outcome = await target.ask(ada, HOUSE, scope="nonsense")
    assert outcome.error in {"invalid_scope", "invalid_request"}


async def test_a13_what_was_narrowed_is_said(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, HOUSE, scope="openid nonsense profile")
    assert set(tokens["scope"].split()) == {"openid", "profile"}


async def test_a14_the_nonce(target: Target, ada: Visitor) -> None:
    for _ in range(2):
        tokens = await target.tokens(ada, HOUSE, nonce="same")
        assert (await target.read(tokens["id_token"]))["nonce"] == "same"
    tokens = await target.tokens(ada, HOUSE, nonce=ABSENT)
    assert "nonce" not in await target.read(tokens["id_token"])


async def test_a15_no_page_where_none_is_wanted(target: Target, ada: Visitor) -> None:
    assert (await target.ask(target.visitor(), SHOP, prompt="none")).error == "login_required"
    assert (await target.ask(ada, SHOP, prompt="none")).error == "consent_required"
    await target.agreed(ada, SHOP)
    assert "code" in (await target.ask(ada, SHOP, prompt="none")).told


async def test_a16_none_stands_alone(target: Target, ada: Visitor) -> None:
    assert (await target.ask(ada, HOUSE, prompt="none login")).error == "invalid_request"


@pytest.mark.parametrize("prompt", ["consent", "select_account"])
async def test_a16_what_is_to_be_asked_is_asked(target: Target, ada: Visitor, prompt: str) -> None:
    await target.agreed(ada, SHOP)
    asked = await target.ask(ada, SHOP, prompt=prompt)
    assert asked.kind in {"asks for consent", "asks to sign in"}
    assert "code" in (await target.settled(ada, asked)).told


async def test_a17_one_fresh_sign_in(target: Target, ada: Visitor) -> None:
    asked = await target.ask(ada, HOUSE, prompt="login")
    assert asked.kind == "asks to sign in"
    assert "code" in (await target.sign_in(ada, asked)).told


@pytest.mark.parametrize("max_age", ["-1", "x", "1.5"])
async def test_a18_what_is_no_number(target: Target, ada: Visitor, max_age: str) -> None:
    assert (await target.ask(ada, HOUSE, max_age=max_age)).error == "invalid_request"


async def test_a18_zero_asks_and_auth_time_is_told(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    target.tick()
    asked = await target.ask(ada, HOUSE, pkce, max_age="0")
    assert asked.kind == "asks to sign in"
    code = (await target.sign_in(ada, asked)).told["code"]
    tokens = (await target.redeem(HOUSE, code, pkce)).json()
    assert isinstance((await target.read(tokens["id_token"]))["auth_time"], int)


@pytest.mark.parametrize("name", ["login_hint", "ui_locales", "claims_locales", "acr_values", "display"])
async def test_a19_hints(target: Target, ada: Visitor, name: str) -> None:
    assert "code" in (await target.agreed(ada, HOUSE, **{name: "tlh"})).told


@pytest.mark.parametrize(
    ("name", "value"), [("request", "e30.e30."), ("request_uri", "https://shop.example/request.jwt")]
)
async def test_a20_request_objects(target: Target, ada: Visitor, name: str, value: str) -> None:
    outcome = await target.ask(ada, HOUSE, **{name: value})
    assert outcome.error == f"{name}_not_supported"
    assert target.metadata.get("request_uri_parameter_supported") is False


async def test_a21_the_person_says_no(target: Target, ada: Visitor) -> None:
    refused = await target.decide(ada, await target.ask(ada, SHOP), "deny")
    assert refused.address.startswith(SHOP.redirect_uris[0])
    assert (refused.error, refused.told["state"], refused.told["iss"]) == (
        "access_denied",
        "st-1",
        target.issuer,
    )


async def test_a22_no_redirect_repeats_a_form(target: Target, ada: Visitor) -> None:
    sent = target.wanted(HOUSE, Pkce())
    posted = await ada.browser.post(target.endpoint("authorization"), data=sent)
    assert posted.status_code in {302, 303}
    assert (await target.agreed(ada, SHOP)).answer.status_code in {302, 303}


@pytest.mark.parametrize("client", [TOOL, GUEST])
async def test_a25_the_first_visit_asks(target: Target, ada: Visitor, client: Client) -> None:
    assert (await target.ask(ada, client)).kind == "asks for consent"


async def test_a26_nobody_else_reads_what_is_visited(target: Target) -> None:
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET"}
    answer = await target.http.options(target.endpoint("authorization"), headers=asked)
    assert "access-control-allow-origin" not in answer.headers


async def test_a24_a_question_is_answered_by_its_own_browser(target: Target, ada: Visitor) -> None:
    asked = await target.ask(ada, RIVAL)
    eve = await target.person()
    answer = await eve.browser.get(asked.address) if asked.address else None
    assert answer is None or answer.status_code >= 400
    assert "code" in (await target.decide(ada, asked)).told
