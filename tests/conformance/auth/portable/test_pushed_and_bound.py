"""Pushed requests and proofs of a key, over plain HTTP, on ours and on others."""

from typing import Any

import httpx2
import pytest
from joserfc.jwk import ECKey, OctKey

from tests.conformance.auth.provider.keys import Holder
from tests.conformance.auth.targets.target import HOUSE, RIVAL, SHOP, TOOL, Client, Pkce, Target, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def push(target: Target, client: Client, pkce: Pkce, **changes: str) -> httpx2.Response:
    return await target.call("pushed_authorization_request", client, target.wanted(client, pkce, **changes))


async def address_of(target: Target, client: Client, pkce: Pkce, **changes: str) -> str:
    answer = await push(target, client, pkce, **changes)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["request_uri"])


async def test_m1_what_is_answered(target: Target) -> None:
    answer = await push(target, SHOP, Pkce())
    assert answer.status_code == 201
    assert answer.json()["request_uri"].startswith("urn:ietf:params:oauth:request_uri:")
    assert 5 <= answer.json()["expires_in"] <= 600


async def test_m1_it_authenticates(target: Target) -> None:
    sent = target.wanted(SHOP, Pkce())
    answer = await target.http.post(target.endpoint("pushed_authorization_request"), data=sent)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


async def test_m1_no_address_is_pushed(target: Target) -> None:
    address = await address_of(target, SHOP, Pkce())
    answer = await push(target, SHOP, Pkce(), request_uri=address)
    assert answer.status_code == 400


async def test_m2_its_client_s_and_once(target: Target, ada: Visitor) -> None:
    pkce = Pkce()
    address = await address_of(target, HOUSE, pkce)
    foreign = await target.ask_with(ada, {"client_id": target.id_of(RIVAL), "request_uri": address})
    assert "code" not in foreign.told
    sent = {"client_id": target.id_of(HOUSE), "request_uri": address}
    outcome = await target.settled(ada, await target.ask_with(ada, sent))
    assert (await target.redeem(HOUSE, outcome.told["code"], pkce)).status_code == 200
    assert "code" not in (await target.ask_with(ada, sent)).told


async def test_m2_nothing_beside_it_counts(target: Target, ada: Visitor) -> None:
    address = await address_of(target, HOUSE, Pkce(), state="pushed")
    sent = {"client_id": target.id_of(HOUSE), "request_uri": address, "state": "beside"}
    outcome = await target.settled(ada, await target.ask_with(ada, sent))
    assert outcome.told["state"] == "pushed"


async def bound(target: Target, visitor: Visitor, client: Client, holder: Holder) -> dict[str, Any]:
    """Tokens for the holder of a key."""
    pkce = Pkce()
    answer = await target.call(
        "token",
        client,
        {
            "grant_type": "authorization_code",
            "code": await target.code(visitor, client, pkce),
            "code_verifier": pkce.verifier,
            "redirect_uri": target.address_of(client),
        },
        **holder.proof("POST", target.endpoint("token"), target.now),
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


FORGERIES: list[dict[str, Any]] = [
    {"header_typ": "JWT"},
    {"htm": "GET"},
    {"htu": "https://elsewhere.example/token"},
    {"iat": 1},
    {"iat": None},
    {"jti": None},
    {"header_jwk": ECKey.generate_key("P-256").as_dict(private=False)},
    {"header_jwk": OctKey.generate_key(256).as_dict()},
]


@pytest.mark.parametrize("forgery", FORGERIES, ids="-".join)
async def test_m4_a_forged_proof(target: Target, ada: Visitor, forgery: dict[str, Any]) -> None:
    pkce = Pkce()
    proof = Holder().proof("POST", target.endpoint("token"), target.now, **forgery)
    form = {
        "grant_type": "authorization_code",
        "code": await target.code(ada, TOOL, pkce),
        "code_verifier": pkce.verifier,
        "redirect_uri": target.address_of(TOOL),
    }
    answer = await target.call("token", TOOL, form, **proof)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_dpop_proof")


async def test_m4_a_proof_is_good_once(target: Target, ada: Visitor) -> None:
    holder = Holder()
    token = (await bound(target, ada, TOOL, holder))["access_token"]
    proof = holder.proof("GET", target.endpoint("userinfo"), target.now, token)
    headers = {"Authorization": f"DPoP {token}", **proof}
    answers = [await target.http.get(target.endpoint("userinfo"), headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 401]


async def test_m5_a_bound_token(target: Target, ada: Visitor) -> None:
    holder = Holder()
    tokens = await bound(target, ada, SHOP, holder)
    assert tokens["token_type"] == "DPoP"
    told = await target.introspect(SHOP, tokens["access_token"])
    assert told["cnf"] == {"jkt": holder.thumbprint}
    assert (await target.userinfo(tokens["access_token"])).status_code == 401


async def test_m5_the_proof_names_the_token(target: Target, ada: Visitor) -> None:
    holder, address = Holder(), target.endpoint("userinfo")
    token = (await bound(target, ada, SHOP, holder))["access_token"]
    for named, status in ((token, 200), ("another", 401), (None, 401)):
        proof = holder.proof("GET", address, target.now, named)
        answer = await target.http.get(address, headers={"Authorization": f"DPoP {token}", **proof})
        assert answer.status_code == status


async def test_m6_a_public_client_s_refresh_token(target: Target, ada: Visitor) -> None:
    holder = Holder()
    token = (await bound(target, ada, TOOL, holder))["refresh_token"]
    form = {"grant_type": "refresh_token", "refresh_token": token}
    assert (await target.call("token", TOOL, form)).status_code == 400
    for key, status in ((Holder(), 400), (holder, 200)):
        proof = key.proof("POST", target.endpoint("token"), target.now)
        assert (await target.call("token", TOOL, form, **proof)).status_code == status


async def test_m7_a_code_that_is_bound_in_advance(target: Target, ada: Visitor) -> None:
    holder, pkce = Holder(), Pkce()
    code = await target.code(ada, HOUSE, pkce, dpop_jkt=holder.thumbprint)
    assert (await target.redeem(HOUSE, code, pkce)).status_code == 400
