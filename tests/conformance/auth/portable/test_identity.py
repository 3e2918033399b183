"""Discovery, identity, bearer use and logout over plain HTTP, on ours and on others."""

import base64
import hashlib
import json

import httpx2
import pytest
from joserfc import jws

from tests.conformance.auth.targets.target import (
    ABSENT,
    HOUSE,
    SHOP,
    TOOL,
    Pkce,
    Target,
    Visitor,
    unverified,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

BYE = "https://shop.example/bye"


def header_of(token: str) -> dict[str, object]:
    return dict(jws.extract_compact(token.encode()).headers())


def without_signature(token: str) -> str:
    """The same claims, said to need none."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


async def test_h1_one_issuer(target: Target, ada: Visitor) -> None:
    address = f"{target.issuer}/.well-known/openid-configuration"
    spoofed = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    for headers in ({}, spoofed):
        assert (await target.http.get(address, headers=headers)).json()["issuer"] == target.issuer
    tokens = await target.tokens(ada, SHOP)
    assert unverified(tokens["id_token"])["iss"] == target.issuer


async def test_h2_every_endpoint_is_there(target: Target) -> None:
    for name, address in target.metadata.items():
        if name.endswith("_endpoint"):
            answers = [await target.http.get(address), await target.http.post(address)]
            assert {answer.status_code for answer in answers} != {404}, name


async def test_h3_public_keys(target: Target, ada: Visitor) -> None:
    keys = (await target.http.get(target.metadata["jwks_uri"])).json()["keys"]
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        assert not {"d", "p", "q", "dp", "dq", "qi", "k"} & set(key)
        assert {"use", "alg"} <= set(key)
    tokens = await target.tokens(ada, SHOP)
    assert header_of(tokens["id_token"])["kid"] in {key["kid"] for key in keys}


async def test_h5_rs256_and_never_none(target: Target, ada: Visitor) -> None:
    offered = target.metadata["id_token_signing_alg_values_supported"]
    assert "RS256" in offered
    assert "none" not in offered
    tokens = await target.tokens(ada, SHOP)
    assert (await target.userinfo(without_signature(tokens["id_token"]))).status_code == 401


async def test_h6_every_page_may_read(target: Target) -> None:
    for address in (f"{target.issuer}/.well-known/openid-configuration", target.metadata["jwks_uri"]):
        answer = await target.http.get(address, headers={"Origin": "https://anywhere.example"})
        assert "json" in answer.headers["content-type"]
        assert answer.headers["access-control-allow-origin"] in {"*", "https://anywhere.example"}


async def test_i1_an_id_token(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    claims = await target.read(tokens["id_token"])
    assert claims.keys() >= {"iss", "sub", "aud", "exp", "iat"}
    assert claims["aud"] in (target.id_of(SHOP), [target.id_of(SHOP)])
    assert claims["sub"].isascii()
    if "at_hash" in claims:
        half = hashlib.sha256(tokens["access_token"].encode()).digest()[:16]
        assert claims["at_hash"] == base64.urlsafe_b64encode(half).rstrip(b"=").decode()


async def test_i2_auth_time_stays(target: Target, ada: Visitor) -> None:
    first = await target.read((await target.tokens(ada, TOOL, max_age="3600"))["id_token"])
    target.tick()
    tokens = await target.tokens(ada, TOOL, max_age="3600")
    refreshed = (await target.refresh(TOOL, tokens["refresh_token"])).json()
    for token in (tokens["id_token"], refreshed["id_token"]):
        assert (await target.read(token))["auth_time"] == first["auth_time"]


async def test_i4_userinfo(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    subject = (await target.read(tokens["id_token"]))["sub"]
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    for method in ("GET", "POST"):
        answer = await target.http.request(method, target.endpoint("userinfo"), headers=headers)
        assert answer.json()["sub"] == subject


async def test_i5_no_token_and_a_bad_one(target: Target) -> None:
    bare = await target.http.get(target.endpoint("userinfo"))
    assert bare.status_code == 401
    assert bare.headers["www-authenticate"].startswith("Bearer")
    assert "error=" not in bare.headers["www-authenticate"]
    bad = await target.userinfo("made-up")
    assert (bad.status_code, 'error="invalid_token"' in bad.headers["www-authenticate"]) == (401, True)


async def test_i5_one_without_openid(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP, scope="profile", nonce=ABSENT)
    answer = await target.userinfo(tokens["access_token"])
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


async def test_i6_one_transport_and_never_the_address(target: Target, ada: Visitor) -> None:
    token = (await target.tokens(ada, SHOP))["access_token"]
    address = target.endpoint("userinfo")
    in_the_address = await target.http.get(address, params={"access_token": token})
    assert in_the_address.status_code in {400, 401}
    headers = {"Authorization": f"Bearer {token}"}
    twice = await target.http.post(address, data={"access_token": token}, headers=headers)
    assert twice.status_code == 400


async def test_i7_claims_follow_the_scopes(target: Target, ada: Visitor) -> None:
    whole = await target.userinfo((await target.tokens(ada, HOUSE, scope="openid profile"))["access_token"])
    bare = await target.userinfo((await target.tokens(ada, HOUSE, scope="openid"))["access_token"])
    assert "preferred_username" in whole.json()
    assert bare.json().keys() == {"sub"}


async def test_j1_an_access_token_for_the_api(target: Target, ada: Visitor) -> None:
    token = await target.api_token(ada, SHOP)
    assert header_of(token)["typ"] == "at+jwt"
    claims = await target.read(token)
    assert claims.keys() >= {"iss", "exp", "aud", "sub", "client_id", "iat", "jti"}


async def test_j2_other_tokens_are_no_access_tokens(target: Target, ada: Visitor) -> None:
    tokens = await target.tokens(ada, SHOP)
    for token in (tokens["id_token"], tokens["refresh_token"], without_signature(tokens["id_token"])):
        assert (await target.userinfo(token)).status_code == 401


async def left(target: Target, visitor: Visitor, **sent: str) -> httpx2.Response:
    """A logout, agreed to where that is asked."""
    answer = await visitor.browser.get(target.endpoint("end_session"), params=sent)
    if answer.status_code == 200 and "<form" in answer.text:
        answer = await target.confirm_logout(visitor, answer)
    return answer


async def test_k1_get_and_post(target: Target) -> None:
    for method in ("GET", "POST"):
        visitor = await target.person()
        hint = (await target.tokens(visitor, HOUSE))["id_token"]
        sent = {"id_token_hint": hint}
        parts = {"params": sent} if method == "GET" else {"data": sent}
        answer = await visitor.browser.request(method, target.endpoint("end_session"), **parts)  # type: ignore[arg-type]
        if answer.status_code == 200 and "<form" in answer.text:
            answer = await target.confirm_logout(visitor, answer)
        assert answer.status_code in {200, 302, 303}
        assert (await target.ask(visitor, HOUSE)).kind == "asks to sign in"


async def test_k2_a_modified_hint(target: Target, ada: Visitor) -> None:
    hint = (await target.tokens(ada, SHOP))["id_token"]
    for bad in (without_signature(hint), hint[:-8] + "AAAAAAAA"):
        sent = {"id_token_hint": bad, "post_logout_redirect_uri": BYE}
        answer = await ada.browser.get(target.endpoint("end_session"), params=sent)
        assert not answer.headers.get("location", "").startswith(BYE)
        assert answer.status_code == 400 or "<form" in answer.text


async def test_k3_another_client_than_the_hint_s(target: Target, ada: Visitor) -> None:
    hint = (await target.tokens(ada, SHOP))["id_token"]
    sent = {
        "id_token_hint": hint,
        "client_id": target.id_of(HOUSE),
        "post_logout_redirect_uri": BYE,
    }
    answer = await left(target, ada, **sent)
    assert not answer.headers.get("location", "").startswith(BYE)


async def test_k4_the_address_and_the_state(target: Target) -> None:
    visitor = await target.person()
    hint = (await target.tokens(visitor, SHOP))["id_token"]
    answer = await left(target, visitor, id_token_hint=hint, post_logout_redirect_uri=BYE, state="x y")
    assert answer.headers["location"] in {f"{BYE}?state=x%20y", f"{BYE}?state=x+y"}


@pytest.mark.parametrize("address", [f"{BYE}/", f"{BYE}?x=1", "https://evil.example/bye"])
async def test_k4_another_address(target: Target, ada: Visitor, address: str) -> None:
    hint = (await target.tokens(ada, SHOP))["id_token"]
    answer = await left(target, ada, id_token_hint=hint, post_logout_redirect_uri=address)
    assert not answer.headers.get("location", "").startswith(address)


async def test_k5_without_a_hint_the_person_is_asked(target: Target, ada: Visitor) -> None:
    page = await ada.browser.get(target.endpoint("end_session"))
    assert (page.status_code, "<form" in page.text) == (200, True)
    assert "code" in (await target.ask(ada, HOUSE)).told


async def test_k6_afterwards(target: Target) -> None:
    visitor = await target.person()
    tokens = await target.tokens(visitor, HOUSE, scope="openid profile")
    await left(target, visitor, id_token_hint=tokens["id_token"])
    assert (await target.ask(visitor, HOUSE)).kind == "asks to sign in"
    assert (await target.userinfo(tokens["access_token"])).status_code == 401
    assert (await target.ask(visitor, HOUSE, Pkce(), prompt="none")).error == "login_required"
