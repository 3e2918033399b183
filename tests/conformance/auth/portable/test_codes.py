"""Proof keys and authorization codes over plain HTTP, on ours and on others."""

import asyncio

import pytest

from tests.conformance.auth.targets.target import (
    ABSENT,
    HOUSE,
    RIVAL,
    SHOP,
    TOOL,
    TWO,
    Client,
    Pkce,
    Target,
    Visitor,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIENTS = pytest.mark.parametrize("client", [TOOL, HOUSE], ids=["public", "confidential"])


async def refused(target: Target, client: Client, code: str, pkce: Pkce, **changes: str) -> bool:
    answer = await target.redeem(client, code, pkce, **changes)
    return (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


async def test_b1_a_public_client_without_a_challenge(target: Target, ada: Visitor) -> None:
    without = {"code_challenge": ABSENT, "code_challenge_method": ABSENT}
    assert (await target.ask(ada, TOOL, **without)).error == "invalid_request"


async def test_b2_a_confidential_client_without_a_challenge(target: Target, ada: Visitor) -> None:
    without = {"code_challenge": ABSENT, "code_challenge_method": ABSENT}
    assert (await target.ask(ada, HOUSE, **without)).error == "invalid_request"


async def test_b3_an_omitted_method(target: Target, ada: Visitor) -> None:
    assert (await target.ask(ada, TOOL, code_challenge_method=ABSENT)).error == "invalid_request"


@pytest.mark.parametrize("method", ["plain", "S512", "s256"])
async def test_b4_an_unknown_method(target: Target, ada: Visitor, method: str) -> None:
    assert (await target.ask(ada, TOOL, code_challenge_method=method)).error == "invalid_request"


@pytest.mark.parametrize("challenge", ["a" * 42, "a" * 129, "a" * 42 + "="])
async def test_b5_a_challenge_that_is_none(target: Target, ada: Visitor, challenge: str) -> None:
    assert (await target.ask(ada, TOOL, code_challenge=challenge)).error == "invalid_request"


@pytest.mark.parametrize("verifier", ["wrong" * 10, "short", ABSENT])
async def test_b6_a_wrong_verifier_and_then_the_right_one(
    target: Target, ada: Visitor, verifier: str
) -> None:
    pkce = Pkce()
    code = await target.code(ada, HOUSE, pkce)
    answer = await target.redeem(HOUSE, code, pkce, code_verifier=verifier)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_grant", "invalid_request"}
    assert (await target.redeem(HOUSE, code, pkce)).status_code == 200


async def test_b6_guessing_ends(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    code = await target.code(ada, HOUSE, pkce)
    for _ in range(10):
        assert (await target.redeem(HOUSE, code, Pkce())).status_code == 400
    assert await refused(target, HOUSE, code, pkce)


async def test_b7_no_code_without_its_verifier(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    code = await target.code(ada, HOUSE, pkce)
    plain = await target.redeem(HOUSE, code, pkce, code_verifier=pkce.challenge)
    assert plain.status_code == 400


async def test_b8_the_metadata(target: Target) -> None:
    assert target.metadata["code_challenge_methods_supported"] == ["S256"]


@CLIENTS
async def test_c1_a_replay(target: Target, ada: Visitor, client: Client) -> None:
    pkce = Pkce()
    code = await target.code(ada, client, pkce)
    first = (await target.redeem(client, code, pkce)).json()
    assert await refused(target, client, code, pkce)
    assert await target.is_dead(first["access_token"])
    if "refresh_token" in first:
        assert (await target.refresh(client, first["refresh_token"])).json()["error"] == "invalid_grant"


@CLIENTS
async def test_c2_parallel_uses(target: Target, ada: Visitor, client: Client) -> None:
    pkce = Pkce()
    code = await target.code(ada, client, pkce)
    answers = await asyncio.gather(*(target.redeem(client, code, pkce) for _ in range(20)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses in ([200] + [400] * 19, [400] * 20)
    won = [answer.json()["access_token"] for answer in answers if answer.status_code == 200]
    assert all([await target.is_dead(token) for token in won])


async def test_c3_another_client(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    code = await target.code(ada, SHOP, pkce)
    assert await refused(target, RIVAL, code, pkce, redirect_uri=target.address_of(SHOP))
    assert (await target.redeem(SHOP, code, pkce)).status_code == 200


@pytest.mark.parametrize("address", ["https://evil.example/cb", "https://shop.example/cb/"])
async def test_c4_another_address(target: Target, ada: Visitor, address: str) -> None:
    pkce = Pkce()
    code = await target.code(ada, SHOP, pkce)
    assert await refused(target, SHOP, code, pkce, redirect_uri=address)


async def test_c4_no_address(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    answer = await target.redeem(SHOP, await target.code(ada, SHOP, pkce), pkce, redirect_uri=ABSENT)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_grant", "invalid_request"}


async def test_c4_an_address_where_the_request_had_none(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    code = await target.code(ada, SHOP, pkce, redirect_uri=ABSENT)
    assert await refused(target, SHOP, code, pkce, redirect_uri="https://evil.example/cb")


async def test_c5_another_registered_address(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    code = await target.code(ada, TWO, pkce, redirect_uri=TWO.redirect_uris[0])
    assert await refused(target, TWO, code, pkce, redirect_uri=TWO.redirect_uris[1])


async def test_c6_c7_a_code_grows_old_and_its_replay_is_still_known(target: Target, ada: Visitor) -> None:
    pkce, late = Pkce(), Pkce()
    used, unused = await target.code(ada, HOUSE, pkce), await target.code(ada, HOUSE, late)
    tokens = (await target.redeem(HOUSE, used, pkce)).json()
    target.later(130)
    assert await refused(target, HOUSE, unused, late)
    assert (await target.introspect(HOUSE, tokens["access_token"]))["active"] is True
    assert await refused(target, HOUSE, used, pkce)
    assert (await target.introspect(HOUSE, tokens["access_token"])) == {"active": False}


async def test_c8_long_and_different(target: Target, ada: Visitor) -> None:
    codes = {await target.code(ada, HOUSE, Pkce()) for _ in range(4)}
    # 22 characters of base64url are 128 bits.
    assert len(codes) == 4
    assert min(len(code) for code in codes) >= 22
