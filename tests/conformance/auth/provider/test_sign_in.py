"""The whole way of a client: discovery, code, tokens, refresh, userinfo."""

import pytest

from tests.conformance.auth.provider.provider import (
    ISSUER,
    PORTAL,
    PORTAL_URI,
    SHOP,
    TOOL,
    Person,
    Pkce,
    Provider,
    query_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_first_party_client_signs_somebody_in_without_a_page(provider: Provider, ada: Person) -> None:
    metadata = (await provider.http.get("/auth/.well-known/openid-configuration")).json()
    assert metadata["issuer"] == ISSUER
    pkce = Pkce()
    answer = await provider.authorize(ada, pkce)
    assert answer.headers["location"].startswith(f"{PORTAL_URI}?")
    given = query_of(answer)
    assert (given["state"], given["iss"]) == ("st-1", ISSUER)
    tokens = (await provider.redeem(given["code"], pkce)).json()
    assert tokens["token_type"] == "Bearer"
    claims = await provider.read(tokens["id_token"])
    assert claims["iss"] == ISSUER
    assert claims["aud"] == PORTAL
    assert claims["nonce"] == "n-1"
    assert claims["sub"] == str(ada.account_id)
    told = await provider.userinfo(tokens["access_token"])
    assert told.json()["sub"] == str(ada.account_id)
    assert told.json()["role"] == "admin"
    refreshed = (await provider.refresh(tokens["refresh_token"])).json()
    assert refreshed["refresh_token"] != tokens["refresh_token"]
    assert (await provider.introspect(refreshed["access_token"]))["active"] is True


async def test_other_clients_ask_and_the_answer_is_remembered(provider: Provider, ada: Person) -> None:
    for client in (SHOP, TOOL):
        assert (await provider.tokens(ada, client))["scope"] == "openid profile offline_access fleet:read"
        again = await provider.authorize(ada, Pkce(), client)
        assert "code" in query_of(again)
    provider.clock.turn(days=181)
    elsewhere = await provider.person()
    assert (await provider.authorize(elsewhere, Pkce(), SHOP)).status_code == 200


async def test_whoever_is_not_signed_in_does_so_first_and_comes_back(provider: Provider) -> None:
    answer = await provider.authorize(provider.browser(), Pkce())
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(
        "/auth/sign-in?next=%2Fauth%2Fauthorize%3Fresponse_type%3Dcode"
    )
