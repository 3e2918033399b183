"""The consent page and what surrounds it. Rows A21 to A26, O10."""

import asyncio
from typing import Any

import pytest

from tests.conformance.auth.provider.provider import (
    ABSENT,
    ISSUER,
    PORTAL,
    SHOP,
    SHOP_URI,
    TOOL,
    Person,
    Pkce,
    Provider,
    query_of,
    question_of,
    wanted,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

PREFLIGHT = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}


async def test_a21_whoever_refuses_is_sent_back_with_it(provider: Provider, ada: Person) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    answer = await provider.agree(ada, page, "deny")
    assert answer.headers["location"].startswith(f"{SHOP_URI}?")
    told = query_of(answer)
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", "st-1", ISSUER)
    assert "consent.denied" in await provider.actions(ada)
    assert (await provider.authorize(ada, Pkce(), SHOP)).status_code == 200


async def test_a22_redirects_never_repeat_a_form(provider: Provider, ada: Person) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    assert (await provider.agree(ada, page)).status_code == 303
    assert (await ada.browser.post("/auth/authorize", data=wanted(Pkce()))).status_code == 303


async def test_a23_pages_are_not_framed_not_kept_and_tell_nobody(provider: Provider, ada: Person) -> None:
    for answer in (
        await provider.authorize(ada, Pkce(), SHOP),
        await provider.authorize(ada, Pkce(), client_id="nobody"),
        await provider.authorize(ada, Pkce()),
        await ada.browser.get("/auth/logout"),
        await provider.browser().get("/auth/sign-in"),
    ):
        headers = answer.headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "no-store" in headers["cache-control"]


async def test_a23_the_form_may_end_at_the_registered_address_only(provider: Provider, ada: Person) -> None:
    """Browsers apply form-action to the redirects that follow a form."""
    for client, source in ((SHOP, "https://shop.example"), (TOOL, "http://127.0.0.1:53219")):
        page = await provider.authorize(ada, Pkce(), client)
        assert f"form-action 'self' {source};" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "changed", [{"redirect_uris": ["https://shop.example/other"]}, {"scopes": ["openid", "profile"]}]
)
async def test_a24_a_question_is_void_when_the_client_may_not_have_it_any_more(
    provider: Provider, ada: Person, changed: dict[str, Any]
) -> None:
    await provider.register(client_id="moving")
    page = await provider.authorize(ada, Pkce(), client_id="moving")
    await provider.register(client_id="moving", **changed)
    answer = await provider.agree(ada, page)
    assert (answer.status_code, "location" in answer.headers) == (410, False)
    assert await provider.grants(ada) == []


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Start again in the application."), ("zh-Hans", "请在应用中重新开始")]
)
async def test_a24_whoever_goes_back_and_answers_again_is_told_what_to_do(
    provider: Provider, ada: Person, language: str, said: str
) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    await provider.agree(ada, page)
    ada.browser.headers["Accept-Language"] = language
    again = await provider.agree(ada, page)
    assert again.status_code == 410
    assert said in again.text


async def test_a24_the_answer_needs_the_token_of_the_page(provider: Provider, ada: Person) -> None:
    eve = await provider.person()
    await provider.authorize(eve, Pkce(), SHOP)
    page = await provider.authorize(ada, Pkce(), SHOP)
    for token in ("", "x" * 43, eve.csrf):
        form = {"csrf_token": token, "request": question_of(page), "decision": "allow"}
        assert (await ada.browser.post("/auth/consent", data=form)).status_code == 403
    from_elsewhere = {"Sec-Fetch-Site": "cross-site"}
    form = {"csrf_token": ada.csrf, "request": question_of(page), "decision": "allow"}
    answer = await ada.browser.post("/auth/consent", data=form, headers=from_elsewhere)
    assert answer.status_code == 403
    assert "code" in query_of(await provider.agree(ada, page))


async def test_a24_the_question_is_bound_to_the_session(provider: Provider, ada: Person) -> None:
    eve = await provider.person()
    await provider.authorize(eve, Pkce(), SHOP)
    page = await provider.authorize(ada, Pkce(), SHOP)
    form = {"csrf_token": eve.csrf, "request": question_of(page), "decision": "allow"}
    assert (await eve.browser.post("/auth/consent", data=form)).status_code == 410
    assert "code" in query_of(await provider.agree(ada, page))


async def test_a24_there_is_no_other_way_to_agree(provider: Provider, ada: Person) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    form = {"csrf_token": ada.csrf, "request": question_of(page), "decision": "allow"}
    assert (await ada.browser.get("/auth/consent", params=form)).status_code == 405
    answer = await provider.http.post("/auth/consent", data=form)
    assert answer.status_code in {401, 403}
    asked = wanted(Pkce(), SHOP, decision="allow", request_id=question_of(page), consent="yes")
    assert (await ada.browser.get("/auth/authorize", params=asked)).status_code == 200


@pytest.mark.parametrize(
    "added",
    [
        {"scope": "openid audit:read"},
        {"redirect_uri": "https://evil.example/cb"},
        {"client_id": PORTAL},
        {"state": "other"},
    ],
)
async def test_a24_the_answer_cannot_change_the_question(
    provider: Provider, ada: Person, added: dict[str, str]
) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    form = {"csrf_token": ada.csrf, "request": question_of(page), "decision": "allow"}
    assert (await ada.browser.post("/auth/consent", data={**form, **added})).status_code == 403


@pytest.mark.parametrize("name", ["request", "decision", "csrf_token"])
async def test_a3_a_repeated_field_of_the_answer_is_refused(
    provider: Provider, ada: Person, name: str
) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    form = {"csrf_token": ada.csrf, "request": question_of(page), "decision": "allow"}
    answer = await ada.browser.post("/auth/consent", data={**form, name: [form[name], form[name]]})
    assert answer.status_code == 403


@pytest.mark.parametrize("changes", [{"decision": "maybe"}, {"decision": ABSENT}, {"request": "x"}])
async def test_a24_a_malformed_answer_is_refused(
    provider: Provider, ada: Person, changes: dict[str, str]
) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    form = {"csrf_token": ada.csrf, "request": question_of(page), "decision": "allow", **changes}
    sent = {name: value for name, value in form.items() if value != ABSENT}
    assert (await ada.browser.post("/auth/consent", data=sent)).status_code == 403


async def test_a24_one_code_from_twenty_parallel_answers(provider: Provider, ada: Person) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    answers = await asyncio.gather(*(provider.agree(ada, page) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [303] + [410] * 19
    assert len(await provider.grants(ada)) == 1


async def test_a24_a_question_grows_old(provider: Provider, ada: Person) -> None:
    page = await provider.authorize(ada, Pkce(), SHOP)
    provider.clock.turn(minutes=16)
    assert (await provider.agree(ada, page)).status_code == 410


@pytest.mark.parametrize("client", [TOOL, "routeloom-cli", SHOP])
async def test_a25_the_first_visit_shows_the_page(provider: Provider, ada: Person, client: str) -> None:
    """Also for our own command line: a name alone proves nothing of a native client."""
    address = {"redirect_uri": "http://127.0.0.1:4000/callback"} if client == "routeloom-cli" else {}
    first = await provider.authorize(ada, Pkce(), client, **address)
    assert first.status_code == 200
    assert "code" in query_of(await provider.agree(ada, first))
    assert "code" in query_of(await provider.authorize(ada, Pkce(), client, **address))
    assert (await provider.authorize(await provider.person(), Pkce(), client, **address)).status_code == 200


async def test_a25_more_scopes_and_an_old_consent_ask_again(provider: Provider, ada: Person) -> None:
    await provider.code(ada, Pkce(), SHOP, scope="openid")
    assert (await provider.authorize(ada, Pkce(), SHOP, scope="openid fleet:read")).status_code == 200
    assert (await provider.authorize(ada, Pkce(), SHOP, scope="openid")).status_code == 303
    assert (await provider.authorize(ada, Pkce(), SHOP, scope="openid", prompt="consent")).status_code == 200
    statement = "UPDATE consents SET expires_at = granted_at WHERE account_id = :owner"
    await provider.execute(statement, owner=provider.stored(ada.account_id))
    assert (await provider.authorize(ada, Pkce(), SHOP, scope="openid")).status_code == 200


async def test_a25_nobody_is_asked_where_that_was_forbidden(provider: Provider, ada: Person) -> None:
    answer = await provider.authorize(ada, Pkce(), SHOP, prompt="none")
    assert query_of(answer)["error"] == "consent_required"
    answer = await provider.authorize(provider.browser(), Pkce(), SHOP, prompt="none")
    assert query_of(answer)["error"] == "login_required"


@pytest.mark.parametrize("path", ["/auth/authorize", "/auth/consent", "/auth/logout", "/auth/introspect"])
async def test_a26_no_other_origin_reads_what_is_visited(provider: Provider, path: str) -> None:
    preflight = await provider.http.options(path, headers=PREFLIGHT)
    got = await provider.http.get(path, headers=PREFLIGHT)
    assert "access-control-allow-origin" not in preflight.headers
    assert "access-control-allow-origin" not in got.headers


@pytest.mark.parametrize("path", ["/auth/token", "/auth/revoke", "/auth/userinfo"])
async def test_a26_registered_origins_call_the_rest(provider: Provider, path: str) -> None:
    allowed = await provider.http.options(path, headers=PREFLIGHT)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "https://shop.example"
    assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in allowed.headers
    refused = await provider.http.post(path, headers={"Origin": "https://shop.example"})
    assert refused.headers["access-control-allow-origin"] == "https://shop.example"
    stranger = await provider.http.options(path, headers={**PREFLIGHT, "Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in stranger.headers


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "<svg onload=alert(1)>"},
        {"redirect_uri": 'https://evil.example/"><svg onload=alert(1)>'},
        {"state": "<svg onload=alert(1)>", "client_id": "nobody"},
        {"client_id": SHOP, "redirect_uri": SHOP_URI, "state": "<svg onload=alert(1)>"},
    ],
)
async def test_o10_nothing_of_a_request_becomes_markup(
    provider: Provider, ada: Person, changes: dict[str, str]
) -> None:
    page = await provider.authorize(ada, Pkce(), **changes)
    assert page.headers["content-type"].startswith("text/html")
    assert "<svg onload" not in page.text


async def test_o10_names_of_clients_are_text(provider: Provider, ada: Person) -> None:
    await provider.register(client_id="x", name="<svg onload=alert(1)>", redirect_uris=[SHOP_URI])
    page = await provider.authorize(ada, Pkce(), client_id="x")
    assert "<svg onload" not in page.text
    assert "&lt;svg onload" in page.text
