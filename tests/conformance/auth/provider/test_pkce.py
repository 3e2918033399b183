"""Proof keys for every client. Rows B1 to B8."""

import base64
import hashlib

import pytest

from tests.conformance.auth.provider.provider import (
    ABSENT,
    PORTAL,
    SHOP,
    TOOL,
    Person,
    Pkce,
    Provider,
    query_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("client", [TOOL])
async def test_b1_public_clients_need_a_challenge_at_the_start(
    provider: Provider, ada: Person, client: str
) -> None:
    answer = await provider.authorize(
        ada, Pkce(), client, code_challenge=ABSENT, code_challenge_method=ABSENT
    )
    assert query_of(answer)["error"] == "invalid_request"


@pytest.mark.parametrize("client", [SHOP, PORTAL])
async def test_b2_confidential_clients_too(provider: Provider, ada: Person, client: str) -> None:
    answer = await provider.authorize(ada, Pkce(), client, code_challenge=ABSENT)
    assert query_of(answer)["error"] == "invalid_request"


@pytest.mark.parametrize("method", [ABSENT, ""])
async def test_b3_an_omitted_method_would_be_plain(provider: Provider, ada: Person, method: str) -> None:
    answer = await provider.authorize(ada, Pkce(), code_challenge_method=method)
    assert query_of(answer)["error"] == "invalid_request"


@pytest.mark.parametrize("method", ["plain", "S512", "s256", "S256 "])
async def test_b4_only_s256(provider: Provider, ada: Person, method: str) -> None:
    answer = await provider.authorize(ada, Pkce(), code_challenge_method=method)
    assert query_of(answer)["error"] == "invalid_request"


@pytest.mark.parametrize(
    "challenge", ["a" * 42, "a" * 44, "a" * 128, "a" * 129, "a" * 42 + "=", "a" * 42 + "+", "é" * 43]
)
async def test_b5_the_challenge_is_a_hash(provider: Provider, ada: Person, challenge: str) -> None:
    answer = await provider.authorize(ada, Pkce(), code_challenge=challenge)
    assert query_of(answer)["error"] == "invalid_request"


@pytest.mark.parametrize("verifier", ["wrong" * 10, "short", ABSENT, "", "é" * 43, "a" * 129])
async def test_b6_a_wrong_verifier_is_refused_and_the_code_survives(
    provider: Provider, ada: Person, verifier: str
) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    refused = await provider.redeem(code, pkce, code_verifier=verifier)
    assert refused.status_code == 400
    assert refused.json()["error"] in {"invalid_grant", "invalid_request"}
    assert (await provider.redeem(code, pkce)).status_code == 200


async def test_b6_a_short_verifier_is_refused_also_where_its_hash_fits(
    provider: Provider, ada: Person
) -> None:
    short = "s" * 42
    digest = hashlib.sha256(short.encode()).digest()
    code = await provider.code(
        ada, Pkce(), code_challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    )
    assert (await provider.redeem(code, Pkce(short))).json()["error"] == "invalid_grant"


async def test_b6_so_many_wrong_verifiers_burn_the_code(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    for _ in range(5):
        assert (await provider.redeem(code, Pkce())).json()["error"] == "invalid_grant"
    assert (await provider.redeem(code, pkce)).json()["error"] == "invalid_grant"
    assert [row[1] for row in await provider.grants(ada)] == ["code_guessed"]


async def test_b6_four_wrong_verifiers_do_not(provider: Provider, ada: Person) -> None:
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    for _ in range(4):
        await provider.redeem(code, Pkce())
    assert (await provider.redeem(code, pkce)).status_code == 200


async def test_b7_a_verifier_never_comes_without_a_challenge(provider: Provider, ada: Person) -> None:
    """There is no code without a challenge, and none is redeemed without its verifier."""
    assert await provider.rows("SELECT 1 FROM oauth_codes WHERE code_challenge = ''") == []
    pkce = Pkce()
    code = await provider.code(ada, pkce)
    assert (await provider.redeem(code, pkce, code_verifier=ABSENT)).status_code == 400
    plain = await provider.redeem(code, pkce, code_verifier=pkce.challenge)
    assert plain.json()["error"] == "invalid_grant"


async def test_b8_discovery_says_so(provider: Provider) -> None:
    metadata = (await provider.http.get("/auth/.well-known/openid-configuration")).json()
    assert metadata["code_challenge_methods_supported"] == ["S256"]
