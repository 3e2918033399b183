"""Authorization requests that clients push (RFC 9126). Rows M1 to M3."""

import asyncio
import secrets
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from auth_server.authorization.repository import AuthorizationRepository
from auth_server.authorization.rules import PUSHED_LIFE
from auth_server.authorization.tasks import loops
from tests.conformance.auth.provider.keys import Signing
from tests.conformance.auth.provider.provider import (
    ABSENT,
    ISSUER,
    ORIGIN,
    PORTAL,
    SHOP,
    SHOP_SECRET,
    SHOP_URI,
    TOOL,
    Person,
    Pkce,
    Provider,
    query_of,
    wanted,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(autouse=True)
def earlier_failures_forgotten(provider: Provider) -> None:
    provider.clock.turn(minutes=6)


async def push(provider: Provider, pkce: Pkce, client_id: str = SHOP, **changes: str) -> httpx2.Response:
    form = {**wanted(pkce, client_id), **provider.authentication(client_id), **changes}
    return await provider.http.post(
        "/auth/par", data={name: value for name, value in form.items() if value != ABSENT}
    )


async def pushed(provider: Provider, pkce: Pkce, client_id: str = SHOP, **changes: str) -> str:
    answer = await push(provider, pkce, client_id, **changes)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["request_uri"])


async def visit(browser: httpx2.AsyncClient, address: str, **changes: str) -> httpx2.Response:
    asked = {"client_id": SHOP, "request_uri": address, **changes}
    return await browser.get("/auth/authorize", params=asked)


class TestPushing:
    async def test_m1_what_is_answered(self, provider: Provider) -> None:
        answer = await push(provider, Pkce())
        assert answer.status_code == 201
        assert set(answer.json()) == {"request_uri", "expires_in"}
        assert answer.json()["request_uri"].startswith("urn:ietf:params:oauth:request_uri:rlq_")
        assert 5 <= answer.json()["expires_in"] <= 600
        assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
        name = answer.json()["request_uri"].rsplit(":", 1)[1]
        kept = await provider.kept("SELECT * FROM pushed_requests")
        assert name not in kept
        assert SHOP_SECRET not in kept

    async def test_m1_a_client_authenticates_as_at_the_token_endpoint(self, provider: Provider) -> None:
        form = {**wanted(Pkce(), SHOP)}
        basic = await provider.http.post("/auth/par", data=form, auth=(SHOP, SHOP_SECRET))
        assert basic.status_code == 201
        assert (await push(provider, Pkce(), TOOL)).status_code == 201
        for bad in ({"client_secret": ABSENT}, {"client_secret": "wrong"}, {"client_id": "nobody"}):
            answer = await push(provider, Pkce(), **bad)
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        both = await provider.http.post(
            "/auth/par", data={**form, "client_secret": SHOP_SECRET}, auth=(SHOP, SHOP_SECRET)
        )
        assert both.json()["error"] == "invalid_request"
        got = await provider.http.get("/auth/par")
        assert (got.status_code, got.headers["allow"]) == (405, "POST")
        signing = Signing(f"push-{secrets.token_hex(4)}")
        await provider.register(secret=None, client_id=signing.client_id, public_keys=signing.jwks)
        assertion = signing.assertion(ISSUER, provider.clock())
        asserted = {**form, "client_id": signing.client_id, **assertion}
        assert (await provider.http.post("/auth/par", data=asserted)).status_code == 201

    async def test_m1_a_request_address_is_not_pushed(self, provider: Provider) -> None:
        for address in (await pushed(provider, Pkce()), "https://shop.example/request"):
            answer = await push(provider, Pkce(), request_uri=address)
            assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"redirect_uri": "https://evil.example/cb"}, "invalid_request"),
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"response_type": ABSENT}, "invalid_request"),
            ({"code_challenge": ABSENT}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"scope": "nonsense"}, "invalid_scope"),
            ({"request": "x.y.z"}, "request_not_supported"),
            ({"prompt": "none login"}, "invalid_request"),
            ({"dpop_jkt": "short"}, "invalid_request"),
        ],
    )
    async def test_m1_what_would_be_refused_is_refused_now(
        self, provider: Provider, changes: dict[str, str], error: str
    ) -> None:
        answer = await push(provider, Pkce(), **changes)
        assert (answer.status_code, answer.json()["error"]) == (400, error)


class TestBounds:
    async def test_m1_a_request_is_no_store_for_other_things(self, provider: Provider) -> None:
        big = "x" * 4000
        assert (await push(provider, Pkce(), state=big, anything=big, ui_locales=big)).status_code == 201
        kept = await provider.kept("SELECT * FROM pushed_requests")
        assert kept.count(big) == 1, "of all that nobody reads, nothing is kept"
        refused = await push(provider, Pkce(), state=big, nonce=big, id_token_hint=big)
        assert (refused.status_code, refused.json()["error"]) == (413, "invalid_request")

    async def test_m1_public_clients_leave_so_many_from_one_network(self, provider: Provider) -> None:
        """Of pushed requests and device codes together; whoever proves a secret is not counted."""

        async def leave(address: str, client_id: str, path: str = "/auth/par") -> httpx2.Response:
            form = {**wanted(Pkce(), client_id), **provider.authentication(client_id)}
            transport = httpx2.ASGITransport(app=provider.app, client=(address, 40000))
            async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as http:
                return await http.post(path, data=form)

        network = f"2001:db8:{secrets.randbelow(65536):x}:7"
        most = provider.resources.settings.tokens.left_per_address
        left = [await leave(f"{network}::{number:x}", TOOL) for number in range(most)]
        assert {answer.status_code for answer in left} == {201}
        for path in ("/auth/par", "/auth/device"):
            refused = await leave(f"{network}:ffff::1", TOOL, path)
            assert (refused.status_code, refused.json()["error"]) == (429, "slow_down")
            assert int(refused.headers["retry-after"]) > 0
        assert (await leave(f"{network}::1", SHOP)).status_code == 201
        assert (await leave("2001:db8::1", TOOL)).status_code == 201
        provider.clock.turn(minutes=16)
        assert (await leave(f"{network}::1", TOOL)).status_code == 201

    async def test_m1_nothing_is_kept_much_longer_than_it_is_good(self, provider: Provider) -> None:
        (loop,) = loops(provider.resources)
        assert loop.interval is not None
        assert loop.interval <= PUSHED_LIFE <= timedelta(seconds=600)


class TestUse:
    async def test_m2_a_code_comes_of_it(self, provider: Provider, ada: Person) -> None:
        pkce = Pkce()
        page = await visit(ada.browser, await pushed(provider, pkce))
        answer = await provider.agree(ada, page)
        told = query_of(answer)
        assert (told["state"], told["iss"]) == ("st-1", ISSUER)
        assert (await provider.redeem(told["code"], pkce, SHOP)).status_code == 200

    async def test_m2_it_is_its_client_s(self, provider: Provider, ada: Person) -> None:
        address = await pushed(provider, Pkce())
        for other in (TOOL, PORTAL, "nobody"):
            refused = await visit(ada.browser, address, client_id=other)
            assert refused.status_code == 400
            assert "location" not in refused.headers
        assert (await visit(ada.browser, address)).status_code == 200

    async def test_m2_it_is_used_once(self, provider: Provider, ada: Person) -> None:
        address = await pushed(provider, Pkce())
        assert (await visit(ada.browser, address)).status_code == 200
        assert (await visit(ada.browser, address)).status_code == 400

    async def test_m2_one_of_twenty_parallel_uses(self, provider: Provider, ada: Person) -> None:
        address = await pushed(provider, Pkce(), PORTAL)
        answers = await asyncio.gather(*(visit(ada.browser, address, client_id=PORTAL) for _ in range(20)))
        assert sorted(answer.status_code for answer in answers) == [303, *[400] * 19]

    async def test_m2_signing_in_on_the_way_does_not_use_it_and_afterwards_it_is_gone(
        self, provider: Provider, ada: Person
    ) -> None:
        address = await pushed(provider, Pkce(), PORTAL)
        for _ in range(2):
            sent = await visit(provider.browser(), address, client_id=PORTAL)
            assert sent.headers["location"].startswith("/auth/sign-in?next=")
        assert "code" in query_of(await visit(ada.browser, address, client_id=PORTAL))
        assert (await visit(ada.browser, address, client_id=PORTAL)).status_code == 400

    async def test_m2_it_is_short(self, provider: Provider, ada: Person) -> None:
        answer = (await push(provider, Pkce())).json()
        provider.clock.turn(seconds=answer["expires_in"])
        assert (await visit(ada.browser, answer["request_uri"])).status_code == 400

    async def test_m2_nothing_beside_it_counts(self, provider: Provider, ada: Person) -> None:
        pkce = Pkce()
        address = await pushed(provider, pkce, PORTAL, scope="openid")
        others: dict[str, Any] = {
            "scope": "openid fleet:write",
            "state": "other",
            "redirect_uri": "https://evil.example/cb",
            "code_challenge": Pkce().challenge,
            "response_type": "token",
            "prompt": "none",
        }
        answer = await visit(ada.browser, address, client_id=PORTAL, **others)
        told = query_of(answer)
        assert told["state"] == "st-1"
        assert "evil.example" not in answer.headers["location"]
        tokens = await provider.redeem(told["code"], pkce)
        assert tokens.json()["scope"] == "openid"

    async def test_m2_a_fresh_sign_in_that_it_asks_for_is_asked_for_once(
        self, provider: Provider, ada: Person
    ) -> None:
        address = await pushed(provider, Pkce(), PORTAL, prompt="login")
        sent = await visit(ada.browser, address, client_id=PORTAL)
        assert sent.headers["location"].startswith("/auth/sign-in?again=true&next=")
        assert "sign_in_asked_at" in sent.headers["location"]

    async def test_m2_what_was_never_pushed(self, provider: Provider, ada: Person) -> None:
        for name in ("rlq_nothing", "rlq_\x00", "rlq_é"):
            refused = await visit(ada.browser, f"urn:ietf:params:oauth:request_uri:{name}")
            assert refused.status_code == 400
        other = await provider.authorize(ada, Pkce(), SHOP, request_uri="https://shop.example/request")
        assert query_of(other)["error"] == "request_uri_not_supported"


class TestDemand:
    async def test_m3_a_client_that_pushes_cannot_do_without(self, provider: Provider, ada: Person) -> None:
        client_id = f"strict-{secrets.token_hex(4)}"
        await provider.register(client_id=client_id, requires_pushed=True)
        pkce = Pkce()
        plain = await ada.browser.get("/auth/authorize", params=wanted(pkce, client_id))
        assert plain.headers["location"].startswith(SHOP_URI)
        assert query_of(plain)["error"] == "invalid_request"
        form = {**wanted(pkce, client_id), "client_secret": SHOP_SECRET}
        address = (await provider.http.post("/auth/par", data=form)).json()["request_uri"]
        assert (await visit(ada.browser, address, client_id=client_id)).status_code == 200

    async def test_m1_what_nobody_came_for_is_forgotten(self, provider: Provider) -> None:
        await pushed(provider, Pkce())
        provider.clock.turn(minutes=6)
        async with provider.resources.database.transaction() as session:
            await AuthorizationRepository(session).forget_pushed_before(provider.clock())
        assert await provider.rows("SELECT 1 FROM pushed_requests") == []
