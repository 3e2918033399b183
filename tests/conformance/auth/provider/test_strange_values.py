"""Values that no honest client sends: refused in OAuth's words, never a failure of ours."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from auth_server.signing_keys.errors import NextKeyTooYoung
from tests.conformance.auth.provider.keys import Holder, Signing, as_form
from tests.conformance.auth.provider.provider import ISSUER, SHOP, SHOP_SECRET, Provider
from tests.conformance.auth.provider.test_commands import Shell
from tests.conformance.auth.provider.test_services import SERVICE, serve, service

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN = f"{ISSUER}/token"
NUMBERS: list[Any] = [0, -1, 1e308, float("nan"), float("inf"), 10**400]
ODD: list[Any] = [None, True, [], {}, [[]], [{}], "", "\x00", "\ud800", *NUMBERS]
GRANT = {"grant_type": "client_credentials"}
#: What no JWT begins with.
HEADS = ("[]", "null", "1", '"a"', '[["alg","none"]]', '{"alg":' + "[" * 3000 + "]" * 3000 + "}", "\xff")


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("latin-1")).rstrip(b"=").decode()


def unharmed(answer: httpx2.Response, *statuses: int) -> bool:
    """One of these, or taken."""
    return answer.status_code in {200, *statuses} and "internal_error" not in answer.text


@pytest.mark.parametrize("claim", ["iat", "jti", "htm", "htu", "header_jwk", "header_typ", "header_kid"])
async def test_a_proof_with_a_strange_claim_is_refused(provider: Provider, claim: str) -> None:
    who = await service(provider)
    for odd in ODD:
        proof = Holder().proof("POST", TOKEN, provider.clock(), **{claim: odd})
        answer = await provider.http.post("/auth/token", data={**GRANT, **who}, headers=proof)
        assert unharmed(answer, 400), (claim, odd, answer.text)


@pytest.mark.parametrize("field", ["x", "kty", "crv", "alg", "use", "kid", "key_ops", "x5c"])
async def test_a_proof_with_a_strange_key_is_refused(provider: Provider, field: str) -> None:
    who, holder = await service(provider), Holder()
    for odd in [*ODD, "A" * 500]:
        jwk = {**holder.key.as_dict(private=False), field: odd}
        proof = holder.proof("POST", TOKEN, provider.clock(), header_jwk=jwk)
        answer = await provider.http.post("/auth/token", data={**GRANT, **who}, headers=proof)
        assert unharmed(answer, 400), (field, odd, answer.text)


async def asserting(provider: Provider, name: str) -> Signing:
    signing = Signing(f"{name}-{provider.resources.database.dialect}")
    await provider.register(secret=None, client_id=signing.client_id, public_keys=signing.jwks, **SERVICE)
    return signing


@pytest.mark.parametrize("claim", ["iss", "sub", "aud", "jti", "iat", "exp", "nbf"])
async def test_an_assertion_with_a_strange_claim_is_refused(provider: Provider, claim: str) -> None:
    signing = await asserting(provider, f"odd-{claim}")
    for odd in ODD:
        answer = await serve(provider, signing.assertion(TOKEN, provider.clock(), **{claim: odd}))
        assert unharmed(answer, 401, 429), (claim, odd, answer.text)
        provider.clock.turn(minutes=2)


@pytest.mark.parametrize("head", ["kid", "alg", "typ", "crit", "jwk", "b64"])
async def test_an_assertion_with_a_strange_head_is_refused(provider: Provider, head: str) -> None:
    signing = await asserting(provider, f"head-{head}")
    rest = signing.token(TOKEN, provider.clock()).partition(".")[2]
    for odd in ODD:
        header = encoded(json.dumps({"alg": "ES256", "kid": "k1", head: odd}))
        answer = await serve(provider, as_form(f"{header}.{rest}"))
        assert answer.status_code in {401, 429}, (head, odd, answer.text)
        provider.clock.turn(minutes=2)


@pytest.mark.parametrize("head", HEADS)
async def test_what_is_no_token_is_refused_everywhere(provider: Provider, head: str) -> None:
    shop = {"client_id": SHOP, "client_secret": SHOP_SECRET}
    for token in (f"{encoded(head)}.e30.AAAA", f"e30.{encoded(head)}.AAAA", "....", encoded(head)):
        assert (await serve(provider, as_form(token))).status_code in {401, 429}
        proved = await provider.http.post("/auth/token", data={**GRANT, **shop}, headers={"DPoP": token})
        assert proved.json()["error"] == "invalid_dpop_proof"
        shown = await provider.http.get("/auth/userinfo", headers={"Authorization": f"Bearer {token}"})
        assert shown.status_code == 401
        hinted = await provider.http.get("/auth/logout", params={"id_token_hint": token})
        assert hinted.status_code < 500
        told = await provider.http.post("/auth/introspect", data={**shop, "token": token})
        assert told.json() == {"active": False}
        assert (await provider.http.post("/auth/revoke", data={**shop, "token": token})).status_code == 200


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("client_id=a&client_id=b&scope=x&scope=y", "client_id, scope"),
        ("a%22%0a=1&a%22%0a=2", "unusual name"),
        ("&".join(f"p{number}=1" for number in range(65)), "At most 64"),
        ("a=%ff", "UTF-8"),
        ("client_id=%00", "U+0000"),
        ("a=" + "x" * 70_000, "65536 bytes"),
    ],
)
async def test_a_refusal_names_what_to_mend(provider: Provider, body: str, said: str) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await provider.http.post("/auth/token", content=body, headers=form)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert said in answer.json()["error_description"]


async def test_who_names_no_client_is_told_so(provider: Provider) -> None:
    answer = await provider.http.post("/auth/token", data=GRANT)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert "client_id" in answer.json()["error_description"]


async def test_a_media_type_may_be_written_in_capitals(provider: Provider) -> None:
    form = {"Content-Type": "Application/X-WWW-Form-Urlencoded"}
    answer = await provider.http.post("/auth/userinfo", content="access_token=a", headers=form)
    assert answer.json()["error"] == "invalid_token"


@pytest.mark.processes
async def test_a_command_says_how_to_mend_what_it_was_given(
    provider: Provider, database: tuple[str, Path]
) -> None:
    status, said = await Shell(*database).run("clients", "change", SHOP, "--set", "{")
    assert (status != 0, "--set is no JSON" in said) == (True, True), said
    assert "--now" in NextKeyTooYoung().detail
