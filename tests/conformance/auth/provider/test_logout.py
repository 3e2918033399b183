"""Signing out at a client's wish, and telling clients of it. Rows K1 to K7."""

import asyncio
from typing import Any

import httpx2
import pytest
from joserfc import jws

from auth_server.sessions.dependencies import SESSION_COOKIE
from shared.kernel.principal import SYSTEM, Role
from tests.conformance.auth.provider.provider import (
    ABSENT,
    ISSUER,
    ORIGIN,
    PORTAL,
    SHOP,
    TOOL,
    Person,
    Pkce,
    Provider,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

BYE = "https://shop.example/bye"


async def leave(person: Person, **sent: str) -> httpx2.Response:
    asked = {name: value for name, value in sent.items() if value != ABSENT}
    return await person.browser.get("/auth/logout", params=asked)


async def confirm(person: Person, **sent: str) -> httpx2.Response:
    return await person.browser.post("/auth/logout/confirm", data={"csrf_token": person.csrf, **sent})


async def is_signed_in(provider: Provider, person: Person) -> bool:
    alive = "SELECT 1 FROM sessions WHERE id = :id AND ended_at IS NULL"
    return bool(await provider.rows(alive, id=provider.stored(person.session_id)))


def asks(answer: httpx2.Response) -> bool:
    return answer.status_code == 200 and 'action="/auth/logout/confirm"' in answer.text


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_k1_get_and_post(provider: Provider, ada: Person, method: str) -> None:
    hint = (await provider.tokens(ada, SHOP))["id_token"]
    sent = {"id_token_hint": hint, "post_logout_redirect_uri": BYE, "state": "s&1"}
    given = {"params": sent} if method == "GET" else {"data": sent}
    answer = await ada.browser.request(method, "/auth/logout", **given)  # type: ignore[arg-type]
    assert (answer.status_code, answer.headers["location"]) == (303, f"{BYE}?state=s%261")
    assert not await is_signed_in(provider, ada)


async def test_k1_a_post_from_elsewhere_comes_back_with_the_cookie(provider: Provider, ada: Person) -> None:
    hint = (await provider.tokens(ada, SHOP))["id_token"]
    sent = {"id_token_hint": hint, "post_logout_redirect_uri": BYE}
    without = await provider.http.post("/auth/logout", data=sent)
    assert without.headers["location"].startswith("/auth/logout?")
    answer = await ada.browser.get(without.headers["location"])
    assert answer.headers["location"] == BYE
    assert not await is_signed_in(provider, ada)


async def test_k2_an_expired_hint_is_good(provider: Provider, ada: Person) -> None:
    hint = (await provider.tokens(ada, SHOP))["id_token"]
    provider.clock.turn(days=1)
    answer = await leave(ada, id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert answer.headers["location"] == BYE
    assert not await is_signed_in(provider, ada)


@pytest.mark.parametrize("spoil", ["x", "cut", "signature", "access", "logout"])
async def test_k2_a_modified_hint_is_refused(provider: Provider, ada: Person, spoil: str) -> None:
    tokens = await provider.tokens(ada, SHOP)
    hint = tokens["id_token"]
    other = (await provider.tokens(ada, SHOP))["id_token"]
    async with provider.services() as services:
        logout = await services.logouts.minter.logout_token(SHOP, str(ada.account_id), str(ada.session_id))
    bad = {
        "x": "x",
        "cut": hint.rsplit(".", 1)[0] + ".",
        "signature": hint.rsplit(".", 1)[0] + "." + other.rsplit(".", 1)[1][::-1],
        "access": tokens["access_token"],
        "logout": logout,
    }[spoil]
    answer = await leave(ada, id_token_hint=bad, post_logout_redirect_uri=BYE)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert await is_signed_in(provider, ada)


@pytest.mark.parametrize("client_id", [PORTAL, TOOL, "nobody"])
async def test_k3_the_client_must_be_the_hint_s(provider: Provider, ada: Person, client_id: str) -> None:
    hint = (await provider.tokens(ada, SHOP))["id_token"]
    answer = await leave(ada, id_token_hint=hint, client_id=client_id, post_logout_redirect_uri=BYE)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert await is_signed_in(provider, ada)
    agreed = await leave(ada, id_token_hint=hint, client_id=SHOP, post_logout_redirect_uri=BYE)
    assert agreed.headers["location"] == BYE


@pytest.mark.parametrize(
    "address",
    [
        f"{BYE}/",
        f"{BYE}?x=1",
        "https://shop.example/cb",
        "https://evil.example/",
        f"{ORIGIN}/",
        "javascript:x",
    ],
)
async def test_k4_the_address_is_compared_exactly(provider: Provider, ada: Person, address: str) -> None:
    hint = (await provider.tokens(ada, SHOP))["id_token"]
    for sent in ({"id_token_hint": hint}, {"client_id": SHOP}, {}):
        answer = await leave(ada, post_logout_redirect_uri=address, **sent)
        assert answer.status_code == 400
        assert "location" not in answer.headers
    assert await is_signed_in(provider, ada)


async def test_k4_a_good_address_needs_a_hint_or_a_yes(provider: Provider, ada: Person) -> None:
    refused = await leave(ada, post_logout_redirect_uri=BYE)
    assert refused.status_code == 400
    asked = await leave(ada, post_logout_redirect_uri=BYE, client_id=SHOP, state="s 1")
    assert asks(asked)
    assert "form-action 'self' https://shop.example;" in asked.headers["content-security-policy"]
    sent = {"client_id": SHOP, "post_logout_redirect_uri": BYE, "state": "s 1"}
    answer = await confirm(ada, **sent)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{BYE}?state=s%201")
    nobody = await provider.http.get("/auth/logout", params=sent)
    assert nobody.status_code == 200
    assert "location" not in nobody.headers


async def test_k4_a_repeated_parameter_is_refused(provider: Provider, ada: Person) -> None:
    answer = await ada.browser.get("/auth/logout?state=a&state=b")
    assert answer.status_code == 400
    assert await is_signed_in(provider, ada)


async def test_k5_without_a_hint_the_person_is_asked(provider: Provider, ada: Person) -> None:
    assert asks(await leave(ada))
    assert await is_signed_in(provider, ada)
    for token in ("", "x" * 43):
        forged = await ada.browser.post("/auth/logout/confirm", data={"csrf_token": token})
        assert forged.status_code == 403
    assert (await ada.browser.get("/auth/logout/confirm")).status_code == 405
    assert await is_signed_in(provider, ada)
    assert (await confirm(ada)).status_code == 200
    assert not await is_signed_in(provider, ada)


async def test_k5_the_cookie_and_not_the_hint_says_whose_session_ends(
    provider: Provider, ada: Person
) -> None:
    ben = await provider.person()
    hint = (await provider.tokens(ben, SHOP))["id_token"]
    assert asks(await leave(ada, id_token_hint=hint, post_logout_redirect_uri=BYE))
    assert await is_signed_in(provider, ada)
    assert await is_signed_in(provider, ben)
    await confirm(ada, client_id=SHOP, post_logout_redirect_uri=BYE)
    assert not await is_signed_in(provider, ada)
    assert await is_signed_in(provider, ben)


async def test_k6_afterwards_nothing_of_the_session_is_left(provider: Provider, ada: Person) -> None:
    online = await provider.tokens(ada, SHOP, scope="openid fleet:read")
    cookie = ada.browser.cookies.get(SESSION_COOKIE) or ""
    answer = await leave(ada, id_token_hint=online["id_token"])
    assert answer.status_code == 200
    dropped = answer.headers["set-cookie"]
    assert dropped.startswith(f"{SESSION_COOKIE}=")
    assert "Max-Age=0" in dropped
    assert not await is_signed_in(provider, ada)
    assert (await provider.introspect(online["access_token"])) == {"active": False}
    assert (await provider.userinfo(online["access_token"])).status_code == 401
    ada.browser.cookies.set(SESSION_COOKIE, cookie, domain="loom.example")
    assert (await provider.authorize(ada, Pkce())).headers["location"].startswith("/auth/sign-in?")


async def test_k6_twenty_parallel_logouts_tell_once(provider: Provider, ada: Person) -> None:
    hint = (await provider.tokens(ada))["id_token"]
    answers = await asyncio.gather(*(leave(ada, id_token_hint=hint) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert (await provider.actions(ada)).count("session.ended") == 1


async def test_k7_clients_are_told_of_the_end(provider: Provider, ada: Person) -> None:
    await provider.tokens(ada)
    await provider.end_session(ada)
    told = await provider.receiver.told_of(ada.session_id)
    claims: dict[str, Any] = await provider.read(told["token"])
    assert jws.extract_compact(told["token"].encode()).headers()["typ"] == "logout+jwt"
    assert (claims["iss"], claims["aud"], claims["sub"]) == (ISSUER, PORTAL, str(ada.account_id))
    assert claims["events"] == {"http://schemas.openid.net/event/backchannel-logout": {}}
    assert claims["exp"] > claims["iat"]
    assert claims["jti"]
    assert "nonce" not in claims


async def test_k7_a_client_that_fails_blocks_nothing_and_is_told_again(
    provider: Provider, ada: Person
) -> None:
    await provider.tokens(ada)
    provider.receiver.status, provider.receiver.location = "302 Found", f"{provider.receiver.address}/else"
    try:
        hint = (await provider.tokens(ada))["id_token"]
        assert (await leave(ada, id_token_hint=hint)).status_code == 200
        await provider.receiver.told_of(ada.session_id)
    finally:
        provider.receiver.status, provider.receiver.location = "200 OK", ""
    before = len(provider.receiver.heard)
    provider.clock.turn(seconds=31)
    await provider.app.state.logout_relay.kick()
    async with asyncio.timeout(20):
        while len(provider.receiver.heard) == before:
            await asyncio.sleep(0.02)
    # A redirect is no address that was registered.
    assert {message["path"] for message in provider.receiver.heard} == {"/backchannel"}


async def test_k7_clients_of_a_changed_role_sign_the_person_in_anew(provider: Provider) -> None:
    person = await provider.person(Role.OPERATOR)
    await provider.tokens(person)
    async with provider.accounts() as accounts:
        await accounts.change_role(SYSTEM, person.account_id, Role.VIEWER)
    assert await provider.receiver.told_of(person.session_id)
    claims = await provider.read((await provider.tokens(person))["id_token"])
    assert claims["role"] == "viewer"
