"""Authorization endpoint: parameters, addresses and answers. Rows A1 to A14."""

import re
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import pytest

from auth_server.clients.errors import RegistrationRefused
from shared.kernel.principal import Role
from tests.conformance.auth.provider.provider import (
    ABSENT,
    ISSUER,
    PORTAL_URI,
    SHOP,
    SHOP_URI,
    TOOL,
    Person,
    Pkce,
    Provider,
    query_of,
    wanted,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


def is_page_that_leads_nowhere(answer: httpx2.Response) -> bool:
    """400, and every address on the page is one of ours."""
    assert answer.headers["content-type"].startswith("text/html")
    addresses = re.findall(r"""\b(?:href|src|action)=["']?([^"'\s>]*)""", answer.text)
    assert addresses
    ours = all(re.match(r"/(?!/)|#", address) for address in addresses)
    return answer.status_code == 400 and "location" not in answer.headers and ours


async def test_a1_get_and_post_have_the_same_outcome(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    posted = await ada.browser.post("/auth/authorize", data=wanted(pkce))
    assert set(query_of(posted)) == set(query_of(await provider.authorize(ada, pkce)))
    refused = await ada.browser.post("/auth/authorize", data=wanted(pkce, response_type="token"))
    assert query_of(refused)["error"] == "unsupported_response_type"


async def test_a1_a_post_from_elsewhere_goes_on_as_a_get_which_has_the_cookie(provider: Provider) -> None:
    sent = wanted(Pkce())
    answer = await provider.http.post("/auth/authorize", data=sent)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/auth/authorize?")
    assert query_of(answer) == sent


@pytest.mark.parametrize(
    ("response_type", "error"),
    [
        (ABSENT, "invalid_request"),
        ("token", "unsupported_response_type"),
        ('é"', "unsupported_response_type"),
        ("code id_token", "unsupported_response_type"),
    ],
)
async def test_a2_response_type(provider: Provider, ada: Person, response_type: str, error: str) -> None:
    answer = await provider.authorize(ada, Pkce(), response_type=response_type)
    assert answer.headers["location"].startswith(f"{PORTAL_URI}?error=")
    told = query_of(answer)
    assert (told["error"], told["state"], told["iss"]) == (error, "st-1", ISSUER)


@pytest.mark.parametrize("name", ["state", "scope", "nonce", "code_challenge", "response_type", "foo"])
async def test_a3_a_repeated_parameter_is_an_error(provider: Provider, ada: Person, name: str) -> None:
    query = urlencode(wanted(Pkce(), foo="1"))
    answer = await ada.browser.get(f"/auth/authorize?{query}&{name}=again")
    assert query_of(answer)["error"] == "invalid_request"
    assert ("state" in query_of(answer)) is (name != "state")


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
async def test_a3_repeated_identity_is_a_page(provider: Provider, ada: Person, name: str) -> None:
    sent = wanted(Pkce())
    answer = await ada.browser.get(f"/auth/authorize?{urlencode(sent)}&{urlencode({name: sent[name]})}")
    assert is_page_that_leads_nowhere(answer)


async def test_a4_unknown_parameters_are_ignored(provider: Provider, ada: Person) -> None:
    assert "code" in query_of(await provider.authorize(ada, Pkce(), foo="bar", claims_locales="tlh"))


async def test_a5_an_empty_value_is_an_absent_one(provider: Provider, ada: Person) -> None:
    assert query_of(await provider.authorize(ada, Pkce(), code_challenge=""))["error"] == "invalid_request"
    assert "state" not in query_of(await provider.authorize(ada, Pkce(), state=""))
    assert "state" not in query_of(await provider.authorize(ada, Pkce(), state="", response_type=""))


@pytest.mark.parametrize("client_id", ["nobody", "", ABSENT, "\N{SNOWMAN}", "'; --"])
async def test_a6_an_unknown_client_is_a_page(provider: Provider, ada: Person, client_id: str) -> None:
    answer = await provider.authorize(
        ada, Pkce(), client_id=client_id, redirect_uri="https://evil.example/cb"
    )
    assert is_page_that_leads_nowhere(answer)


async def test_a6_what_is_no_text_is_a_page(provider: Provider, ada: Person) -> None:
    for query in ("client_id=%FF", "client_id=routeloom-portal%00", "client_id=a&" * 100):
        answer = await ada.browser.get(f"/auth/authorize?{query}")
        assert is_page_that_leads_nowhere(answer)


@pytest.mark.parametrize(
    "address",
    [
        f"{SHOP_URI}/",
        f"{SHOP_URI}?evil=1",
        "https://shop.example/%63b",
        "https://shop.example/x/..;/cb",
        "https://shop.example/%2e%2e/cb",
        "https://shop.example/CB",
        "https://SHOP.example/cb",
        "https://evil@shop.example/cb",
        "https://shop.example@evil.example@shop.example/cb",
        "https://shop.example:8443/cb",
        "https://shop.example:443/cb",
        f"{SHOP_URI}#evil",
        "https://shop.example\\@evil.example/cb",
        "https://shop.example\N{IDEOGRAPHIC FULL STOP}evil.example/cb",
        "http://shop.example/cb",
        "javascript:evil()",
        "//shop.example/cb",
        f" {SHOP_URI}",
    ],
)
async def test_a7_an_address_is_compared_exactly(provider: Provider, ada: Person, address: str) -> None:
    answer = await provider.authorize(ada, Pkce(), SHOP, redirect_uri=address)
    assert is_page_that_leads_nowhere(answer)


@pytest.mark.parametrize("port", ["", ":1024", ":53219", ":65535"])
async def test_a8_any_port_of_loopback(provider: Provider, ada: Person, port: str) -> None:
    address = f"http://127.0.0.1{port}/cb"
    page = await provider.authorize(ada, Pkce(), TOOL, redirect_uri=address)
    answer = await provider.agree(ada, page)
    assert answer.headers["location"].startswith(f"{address}?code=")


async def test_a8_any_port_of_loopback_in_ipv6(provider: Provider, ada: Person) -> None:
    address = "http://[::1]:40123/callback"
    page = await provider.authorize(ada, Pkce(), client_id="routeloom-cli", redirect_uri=address)
    answer = await provider.agree(ada, page)
    assert answer.headers["location"].startswith(f"{address}?code=")


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1:53219/cb",
        "http://127.0.0.1:53219/other",
        "http://127.0.0.1:53219/cb/",
        "http://127.0.0.1:53219/cb?x=1",
        "http://127.0.0.1:99999/cb",
        "http://127.0.0.1:evil/cb",
        "http://127.0.0.1:80@evil.example/cb",
        "http://127.0.0.2:53219/cb",
        "http://127.1:53219/cb",
        "http://[::1]:53219/cb",
        # Our policy: localhost is a name, good only as it was registered.
        "http://localhost:53219/cb",
    ],
)
async def test_a8_everything_else_exactly(provider: Provider, ada: Person, address: str) -> None:
    assert is_page_that_leads_nowhere(await provider.authorize(ada, Pkce(), TOOL, redirect_uri=address))


@pytest.mark.parametrize(
    "address",
    [
        f"{SHOP_URI}#fragment",
        f"{SHOP_URI}#",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "DATA:text/html,x",
        "http://shop.example/cb",
        "https://user@shop.example/cb",
        "https://user:pass@shop.example/cb",
        "https://",
        "/cb",
        "shop.example/cb",
        "https://shop.example/c b",
        "https://shop.example/\\cb",
        "vbscript.x:evil",
        "https://shop.example:port/cb",
    ],
)
async def test_a9_registration_refuses_dangerous_addresses(provider: Provider, address: str) -> None:
    for field in ("redirect_uris", "post_logout_redirect_uris"):
        with pytest.raises(RegistrationRefused):
            values: dict[str, Any] = {"redirect_uris": [SHOP_URI], field: [address]}
            await provider.register(client_id="new", **values)
    for native in (True, False):
        with pytest.raises(RegistrationRefused):
            await provider.register(None, client_id="new", redirect_uris=[address], native=native)


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254.example/latest", "ftp://shop.example/x", "https://shop.example/x?y=1"]
)
async def test_a9_registration_refuses_addresses_that_we_would_not_call(
    provider: Provider, address: str
) -> None:
    with pytest.raises(RegistrationRefused):
        await provider.register(client_id="new", redirect_uris=[SHOP_URI], backchannel_logout_uri=address)


async def test_a9_a_native_client_may_have_a_scheme_of_its_own(provider: Provider) -> None:
    await provider.register(None, client_id="app", redirect_uris=["com.example.app:/cb"], native=True)
    with pytest.raises(RegistrationRefused):
        await provider.register(client_id="web", redirect_uris=["com.example.app:/cb"])


async def test_a10_a_registered_query_is_kept(provider: Provider, ada: Person) -> None:
    await provider.register(client_id="q", redirect_uris=[f"{SHOP_URI}?x=1"])
    page = await provider.authorize(ada, Pkce(), client_id="q", redirect_uri=f"{SHOP_URI}?x=1")
    answer = await provider.agree(ada, page)
    assert answer.headers["location"].startswith(f"{SHOP_URI}?x=1&code=")


@pytest.mark.parametrize("state", ["&=+% /?#", "a" * 2048, "\N{SNOWMAN} ünï", "%41%2B", "\"<svg>'", "+", " "])
async def test_a11_the_state_comes_back_as_it_was(provider: Provider, ada: Person, state: str) -> None:
    for changes in ({}, {"response_type": "token"}):
        query = urlencode(wanted(Pkce(), state=state, **changes), quote_via=quote)
        assert query_of(await ada.browser.get(f"/auth/authorize?{query}"))["state"] == state
    page = await provider.authorize(ada, Pkce(), SHOP, state=state)
    assert query_of(await provider.agree(ada, page))["state"] == state


async def test_a12_the_issuer_is_in_every_answer(provider: Provider, ada: Person) -> None:
    assert query_of(await provider.authorize(ada, Pkce()))["iss"] == ISSUER
    assert query_of(await provider.authorize(ada, Pkce(), scope="nonsense"))["iss"] == ISSUER
    metadata = (await provider.http.get("/auth/.well-known/openid-configuration")).json()
    assert metadata["authorization_response_iss_parameter_supported"] is True


@pytest.mark.parametrize("scope", ["nonsense", "tiers:read", "", ABSENT, '"openid"', "OPENID"])
async def test_a13_nothing_to_grant(provider: Provider, ada: Person, scope: str) -> None:
    """`tiers:read` exists, but this client may not ask for it."""
    assert query_of(await provider.authorize(ada, Pkce(), SHOP, scope=scope))["error"] == "invalid_scope"


async def test_a13_what_was_narrowed_is_said(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada, scope="openid nonsense fleet:read openid")
    assert tokens["scope"] == "openid fleet:read"


async def test_a13_nobody_grants_more_than_the_own_role(provider: Provider) -> None:
    viewer = await provider.person(Role.VIEWER)
    tokens = await provider.tokens(viewer, scope="openid fleet:read fleet:write audit:read")
    assert tokens["scope"] == "openid fleet:read"
    answer = await provider.authorize(viewer, Pkce(), scope="fleet:write")
    assert query_of(answer)["error"] == "invalid_scope"


async def test_a14_the_nonce_comes_back_also_twice_and_may_be_absent(provider: Provider, ada: Person) -> None:
    for _ in range(2):
        tokens = await provider.tokens(ada, nonce="same")
        assert (await provider.read(tokens["id_token"]))["nonce"] == "same"
    tokens = await provider.tokens(ada, nonce=ABSENT)
    assert "nonce" not in await provider.read(tokens["id_token"])
