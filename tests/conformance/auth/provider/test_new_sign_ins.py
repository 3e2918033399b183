"""When a person must sign in anew: only this server says that they have, and a hint names who is meant."""

from __future__ import annotations

from urllib.parse import parse_qs, parse_qsl, urlsplit
from uuid import UUID

import httpx2
import pytest

from auth_server.accounts.models import Account
from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from tests.conformance.auth.provider.provider import (
    ORIGIN,
    PORTAL,
    SHOP,
    Person,
    Pkce,
    Provider,
    query_of,
    wanted,
)
from tests.conformance.auth.provider.test_pushed_requests import pushed, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")
AGAIN = "/auth/sign-in?again=true&next="


def way_back(answer: httpx2.Response) -> str:
    """Where the sign-in page leads."""
    assert answer.headers["location"].startswith(AGAIN), answer.headers["location"]
    return parse_qs(urlsplit(answer.headers["location"]).query)["next"][0]


async def sign_in(provider: Provider, person: Person, account_id: UUID | None = None) -> None:
    """In the person's browser, as themselves or as somebody else."""
    async with provider.services() as services:
        account = await services.session.get(Account, account_id or person.account_id)
        assert account is not None
        cookie = person.browser.cookies.get(SESSION_COOKIE)
        fresh = await services.sessions.sign_in(account, PASSKEY, Browser("Firefox/140", "192.0.2.7"), cookie)
    person.browser.cookies.delete(SESSION_COOKIE)
    person.browser.cookies.set(SESSION_COOKIE, fresh, domain=urlsplit(ORIGIN).hostname or "")


class TestTheStamp:
    @pytest.mark.parametrize("demand", [{"prompt": "login"}, {"max_age": "60"}, {"prompt": "select_account"}])
    async def test_a17_a18_one_sign_in_is_enough(
        self, provider: Provider, ada: Person, demand: dict[str, str]
    ) -> None:
        provider.clock.turn(minutes=10)
        back = way_back(await provider.authorize(ada, Pkce(), **demand))
        provider.clock.turn(minutes=20)
        await sign_in(provider, ada)
        assert "code" in query_of(await ada.browser.get(back))

    async def test_a17_without_a_sign_in_the_way_back_leads_to_it_again(
        self, provider: Provider, ada: Person
    ) -> None:
        provider.clock.turn(minutes=1)
        back = way_back(await provider.authorize(ada, Pkce(), prompt="login"))
        assert way_back(await ada.browser.get(back))

    @pytest.mark.parametrize(
        "forged", ["1", "999999999999", "1.", f"1.{'A' * 43}", "\x7f", "1.é", "x" * 5000]
    )
    async def test_a17_a18_nobody_else_says_that_there_was_one(
        self, provider: Provider, ada: Person, forged: str
    ) -> None:
        provider.clock.turn(minutes=10)
        for demand in ({"prompt": "login"}, {"max_age": "60"}):
            way_back(await provider.authorize(ada, Pkce(), sign_in_asked_at=forged, **demand))

    async def test_a17_a_stamp_is_good_for_its_own_request_only(
        self, provider: Provider, ada: Person
    ) -> None:
        provider.clock.turn(minutes=1)
        back = way_back(await provider.authorize(ada, Pkce(), prompt="login"))
        stamp = dict(parse_qsl(urlsplit(back).query))["sign_in_asked_at"]
        await sign_in(provider, ada)
        for changes in ({"state": "other"}, {"scope": "openid"}, {"max_age": "0"}):
            other = {"prompt": "login", "sign_in_asked_at": stamp, **changes}
            way_back(await provider.authorize(ada, Pkce(), **other))

    async def test_a17_a_stamp_is_good_for_half_an_hour(self, provider: Provider, ada: Person) -> None:
        provider.clock.turn(minutes=1)
        back = way_back(await provider.authorize(ada, Pkce(), prompt="login"))
        await sign_in(provider, ada)
        provider.clock.turn(minutes=31)
        way_back(await ada.browser.get(back))

    async def test_m2_nothing_beside_a_pushed_request_spares_the_sign_in(
        self, provider: Provider, ada: Person
    ) -> None:
        provider.clock.turn(minutes=10)
        address = await pushed(provider, Pkce(), PORTAL, prompt="login")
        way_back(await visit(ada.browser, address, client_id=PORTAL, sign_in_asked_at="1"))
        back = way_back(await visit(ada.browser, address, client_id=PORTAL))
        await sign_in(provider, ada)
        assert "code" in query_of(await ada.browser.get(back))


class TestTheHint:
    """OpenID Connect Core, sections 3.1.2.1 and 3.1.2.2: nobody is told of another person."""

    async def test_a15_who_is_meant_goes_on(self, provider: Provider, ada: Person) -> None:
        hint = (await provider.tokens(ada))["id_token"]
        provider.clock.turn(days=2)  # expired long ago; it still says who is meant
        answer = await provider.authorize(ada, Pkce(), prompt="none", id_token_hint=hint)
        assert "code" in query_of(answer)

    async def test_a15_somebody_else_is_not_told_of(self, provider: Provider, ada: Person) -> None:
        hint = (await provider.tokens(await provider.person()))["id_token"]
        silent = await provider.authorize(ada, Pkce(), prompt="none", id_token_hint=hint)
        assert query_of(silent)["error"] == "login_required"
        way_back(await provider.authorize(ada, Pkce(), SHOP, id_token_hint=hint))

    async def test_a15_who_is_meant_may_sign_in(self, provider: Provider, ada: Person) -> None:
        ben = await provider.person()
        hint = (await provider.tokens(ben))["id_token"]
        back = way_back(await provider.authorize(ada, Pkce(), id_token_hint=hint))
        await sign_in(provider, ada, ben.account_id)
        assert "code" in query_of(await ada.browser.get(back))

    async def test_a15_the_wrong_person_is_asked_once(self, provider: Provider, ada: Person) -> None:
        hint = (await provider.tokens(await provider.person()))["id_token"]
        back = way_back(await provider.authorize(ada, Pkce(), id_token_hint=hint))
        await sign_in(provider, ada)
        assert query_of(await ada.browser.get(back))["error"] == "login_required"

    async def test_a15_a_hint_is_an_id_token_of_ours(self, provider: Provider, ada: Person) -> None:
        tokens = await provider.tokens(ada)
        for odd in (tokens["access_token"], tokens["id_token"][:-8] + "AAAAAAAA", "x", "..", "é"):
            answer = await provider.authorize(ada, Pkce(), id_token_hint=odd)
            assert query_of(answer)["error"] == "invalid_request", odd
        for nobody in (provider.browser(), provider.http):
            first = await nobody.get("/auth/authorize", params=wanted(Pkce(), id_token_hint="x"))
            assert first.headers["location"].startswith("/auth/sign-in?next=")


@pytest.mark.parametrize("state", ["a" * 2000, "é" * 2000, "&=+%" * 500])
async def test_a11_whoever_signs_in_first_comes_back_with_the_whole_state(
    provider: Provider, ada: Person, state: str
) -> None:
    first = await provider.authorize(provider.browser(), Pkce(), state=state)
    page = await provider.browser().get(first.headers["location"])
    assert page.status_code == 200
    back = parse_qs(urlsplit(first.headers["location"]).query)["next"][0]
    assert query_of(await ada.browser.get(back))["state"] == state


async def test_a1_a15_a_silent_post_from_elsewhere_finds_the_session(provider: Provider, ada: Person) -> None:
    """A browser brings no cookie along with a form of another site."""
    posted = await provider.http.post("/auth/authorize", data=wanted(Pkce(), prompt="none"))
    assert posted.headers["location"].startswith("/auth/authorize?")
    assert "code" in query_of(await ada.browser.get(posted.headers["location"]))
