"""Tokens that are bound to a key (RFC 9449). Rows M4 to M7, and G4."""

import asyncio
import base64
import secrets
from typing import Any

import httpx2
import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey

from tests.conformance.auth.provider.keys import Holder, kinds, sign
from tests.conformance.auth.provider.provider import (
    ISSUER,
    ORIGIN,
    PORTAL,
    SHOP,
    SHOP_SECRET,
    TOOL,
    URI_OF,
    Person,
    Pkce,
    Provider,
    query_of,
    wanted,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOKEN, USERINFO = f"{ISSUER}/token", f"{ISSUER}/userinfo"


async def redeem(provider: Provider, code: str, pkce: Pkce, client_id: str, headers: Any) -> httpx2.Response:
    form = {
        **provider.authentication(client_id),
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": pkce.verifier,
        "redirect_uri": URI_OF[client_id],
    }
    return await provider.http.post("/auth/token", data=form, headers=headers)


async def bound(provider: Provider, person: Person, holder: Holder, client_id: str = TOOL) -> dict[str, Any]:
    """A whole sign-in by which the tokens are the holder's."""
    pkce = Pkce()
    code = await provider.code(person, pkce, client_id)
    answer = await redeem(provider, code, pkce, client_id, holder.proof("POST", TOKEN, provider.clock()))
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


async def refresh(
    provider: Provider, token: str, headers: dict[str, str] | None = None, client_id: str = TOOL
) -> httpx2.Response:
    form = {"grant_type": "refresh_token", "refresh_token": token, **provider.authentication(client_id)}
    return await provider.http.post("/auth/token", data=form, headers=headers or {})


async def ask(
    provider: Provider, token: str, headers: dict[str, str], scheme: str = "DPoP"
) -> httpx2.Response:
    sent = {"Authorization": f"{scheme} {token}", **headers}
    return await provider.http.get("/auth/userinfo", headers=sent)


class TestTokens:
    async def test_m5_a_proof_binds_what_is_given(self, provider: Provider, ada: Person) -> None:
        holder = Holder()
        tokens = await bound(provider, ada, holder)
        assert tokens["token_type"] == "DPoP"
        claims = await provider.read(tokens["access_token"])
        assert claims["cnf"] == {"jkt": holder.thumbprint}
        said = await provider.introspect(tokens["access_token"])
        assert (said["token_type"], said["cnf"]) == ("DPoP", {"jkt": holder.thumbprint})

    async def test_m5_without_one_it_is_a_bearer_token(self, provider: Provider, ada: Person) -> None:
        tokens = await provider.tokens(ada, TOOL)
        assert tokens["token_type"] == "Bearer"
        assert "cnf" not in await provider.read(tokens["access_token"])
        assert "cnf" not in await provider.introspect(tokens["access_token"])

    @pytest.mark.parametrize("which", range(4))
    async def test_m4_every_kind_of_key(self, provider: Provider, ada: Person, which: int) -> None:
        holder = Holder(*kinds()[which])
        tokens = await bound(provider, ada, holder)
        proof = holder.proof("GET", USERINFO, provider.clock(), tokens["access_token"])
        assert (await ask(provider, tokens["access_token"], proof)).status_code == 200

    async def test_m5_a_client_that_must_bind(self, provider: Provider, ada: Person) -> None:
        client_id = f"bound-{secrets.token_hex(4)}"
        await provider.register(client_id=client_id, requires_dpop=True)
        pkce = Pkce()
        asked = wanted(pkce, client_id)
        page = await ada.browser.get("/auth/authorize", params=asked)
        code = query_of(await provider.agree(ada, page))["code"]
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": pkce.verifier,
            "redirect_uri": asked["redirect_uri"],
            "client_id": client_id,
            "client_secret": SHOP_SECRET,
        }
        refused = await provider.http.post("/auth/token", data=form)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof")
        proof = Holder().proof("POST", TOKEN, provider.clock())
        answer = await provider.http.post("/auth/token", data=form, headers=proof)
        assert answer.json()["token_type"] == "DPoP", "the refusal did not burn the code"


class TestUse:
    async def test_m5_a_bound_token_is_no_bearer(self, provider: Provider, ada: Person) -> None:
        holder = Holder()
        token = (await bound(provider, ada, holder))["access_token"]
        proof = holder.proof("GET", USERINFO, provider.clock(), token)
        for headers in ({}, proof):
            refused = await ask(provider, token, headers, "Bearer")
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")
        by_form = await provider.http.post("/auth/userinfo", data={"access_token": token})
        assert by_form.status_code == 401

    async def test_m5_the_right_proof(self, provider: Provider, ada: Person) -> None:
        holder = Holder()
        token = (await bound(provider, ada, holder))["access_token"]
        answer = await ask(provider, token, holder.proof("GET", USERINFO, provider.clock(), token))
        assert answer.status_code == 200
        assert answer.json()["sub"] == str(ada.account_id)
        sent = {"Authorization": f"dpop {token}", **holder.proof("POST", USERINFO, provider.clock(), token)}
        assert (await provider.http.post("/auth/userinfo", headers=sent)).status_code == 200

    async def test_m5_another_key_and_another_token(self, provider: Provider, ada: Person) -> None:
        holder, at = Holder(), provider.clock()
        token = (await bound(provider, ada, holder))["access_token"]
        other = (await bound(provider, ada, Holder()))["access_token"]
        plain = (await provider.tokens(ada, TOOL))["access_token"]
        for shown, proof in (
            (token, Holder().proof("GET", USERINFO, at, token)),
            (token, holder.proof("GET", USERINFO, at, other)),
            (token, holder.proof("GET", USERINFO, at)),
            (token, {}),
            (other, holder.proof("GET", USERINFO, at, other)),
            (plain, holder.proof("GET", USERINFO, at, plain)),
        ):
            refused = await ask(provider, shown, proof)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"].startswith("DPoP ")
            assert 'algs="ES256 ' in refused.headers["www-authenticate"]
            assert refused.json()["error"] in {"invalid_dpop_proof", "invalid_token"}

    async def test_m4_a_proof_is_used_once_at_the_resource_too(self, provider: Provider, ada: Person) -> None:
        holder = Holder()
        token = (await bound(provider, ada, holder))["access_token"]
        proof = holder.proof("GET", USERINFO, provider.clock(), token)
        answers = await asyncio.gather(*(ask(provider, token, proof) for _ in range(10)))
        assert sorted(answer.status_code for answer in answers) == [200, *[401] * 9]


class TestProofs:
    @pytest.mark.parametrize(
        "changes",
        [
            {"htm": "GET"},
            {"htm": None},
            {"htu": f"{ISSUER}/userinfo"},
            {"htu": "https://evil.example/auth/token"},
            {"htu": f"{ORIGIN}:8443/auth/token"},
            {"htu": None},
            {"htu": 7},
            {"htu": "http://[/auth/token"},
            {"iat": 1},
            {"iat": None},
            {"iat": "now"},
            {"iat": True},
            {"iat": 1e300},
            {"jti": None},
            {"jti": ""},
            {"jti": "x" * 300},
            {"jti": 7},
            {"header_typ": "JWT"},
            {"header_crit": ["exp"]},
            {"header_jwk": None},
            {"header_jwk": {}},
            {"header_jwk": {"kty": "oct", "k": "AAAA"}},
            {"header_jwk": "key"},
        ],
        ids=str,
    )
    async def test_m4_forgeries(self, provider: Provider, changes: dict[str, Any]) -> None:
        refused = await refresh(provider, "rlr_x", Holder().proof("POST", TOKEN, provider.clock(), **changes))
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof")

    async def test_m4_forged_signatures(self, provider: Provider) -> None:
        at, holder = provider.clock(), Holder()
        good = holder.proof("POST", TOKEN, at)["DPoP"]
        head, claims, mac = good.split(".")
        told = {"htm": "POST", "htu": TOKEN, "iat": int(at.timestamp()), "jti": "j"}
        public = holder.key.as_dict(private=False)
        private = holder.key.as_dict(private=True)
        weak = {**RSAKey.generate_key(2048).as_dict(private=False), "n": "AQAB"}
        typ = "dpop+jwt"
        forged = [
            f"{head}.{claims}.",
            f"{head}.{claims}.{mac[:-6]}AAAAAA",
            f"eyJhbGciOiJub25lIiwidHlwIjoiZHBvcCtqd3QifQ.{claims}.",
            sign({"typ": typ, "alg": "ES256", "jwk": public}, told, ECKey.generate_key("P-256")),
            sign({"typ": typ, "alg": "ES256", "jwk": private}, told, holder.key),
            sign({"typ": typ, "alg": "ES256", "jwk": weak}, told, holder.key),
            sign({"typ": typ, "alg": "HS256", "jwk": public}, told, OctKey.generate_key(256)),
            f"{good}, {good}",
            f"{base64.urlsafe_b64encode(b'[' * 1500).decode()}.{claims}.{mac}",
            sign({"typ": typ, "alg": "ES256", "jwk": public}, b"[" * 5000, holder.key),
            "x.y.z",
            "x" * 9000,
            ".",
        ]
        for text in forged:
            refused = await refresh(provider, "rlr_x", {"DPoP": text})
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof"), text[:40]

    async def test_m4_one_header(self, provider: Provider) -> None:
        holder, at = Holder(), provider.clock()
        both = [("DPoP", holder.proof("POST", TOKEN, at)["DPoP"]) for _ in range(2)]
        form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": TOOL}
        refused = await provider.http.post("/auth/token", data=form, headers=both)
        assert refused.json()["error"] == "invalid_dpop_proof"

    @pytest.mark.parametrize(
        "htu",
        [
            f"{TOKEN}?x=1",
            f"{TOKEN}#x",
            "https://LOOM.example/auth/token",
            "https://loom.example:443/auth/token",
            "HTTPS://loom.example/auth/token",
        ],
    )
    async def test_m4_the_place_is_normalised(self, provider: Provider, htu: str) -> None:
        answer = await refresh(provider, "rlr_x", Holder().proof("POST", TOKEN, provider.clock(), htu=htu))
        assert answer.json()["error"] == "invalid_grant"

    async def test_m4_a_proof_is_seen_once_however_it_is_written(self, provider: Provider) -> None:
        holder = Holder()
        at = provider.clock()
        first = holder.proof("POST", TOKEN, at, jti="same")
        assert (await refresh(provider, "rlr_x", first)).json()["error"] == "invalid_grant"
        for again in (first, holder.proof("POST", f"{TOKEN}?x=1", at, jti="same")):
            assert (await refresh(provider, "rlr_x", again)).json()["error"] == "invalid_dpop_proof"
        other = Holder().proof("POST", TOKEN, at, jti="same")
        assert (await refresh(provider, "rlr_x", other)).json()["error"] == "invalid_grant"

    @pytest.mark.parametrize(("seconds", "good"), [(-61, False), (-59, True), (59, True), (61, False)])
    async def test_m4_a_proof_is_of_now(self, provider: Provider, seconds: int, good: bool) -> None:
        at = int(provider.clock().timestamp())
        proof = Holder().proof("POST", TOKEN, provider.clock(), iat=at + seconds)
        told = (await refresh(provider, "rlr_x", proof)).json()["error"]
        assert told == ("invalid_grant" if good else "invalid_dpop_proof")


class TestRefresh:
    async def test_m6_a_public_client_refreshes_with_its_key_only(
        self, provider: Provider, ada: Person
    ) -> None:
        holder = Holder()
        token = (await bound(provider, ada, holder))["refresh_token"]
        assert (await refresh(provider, token)).json()["error"] == "invalid_grant"
        other = Holder().proof("POST", TOKEN, provider.clock())
        assert (await refresh(provider, token, other)).json()["error"] == "invalid_grant"
        for _ in range(2):
            answer = await refresh(provider, token, holder.proof("POST", TOKEN, provider.clock()))
            assert answer.status_code == 200, "a wrong key burns nothing"
            assert (await provider.read(answer.json()["access_token"]))["cnf"]["jkt"] == holder.thumbprint
            token = answer.json()["refresh_token"]

    async def test_m6_e3_the_same_answer_within_the_grace_for_the_same_key_only(
        self, provider: Provider, ada: Person
    ) -> None:
        holder = Holder()
        parent = (await bound(provider, ada, holder))["refresh_token"]
        first = await refresh(provider, parent, holder.proof("POST", TOKEN, provider.clock()))
        again = await refresh(provider, parent, holder.proof("POST", TOKEN, provider.clock()))
        assert again.json() == first.json()
        assert (await refresh(provider, parent)).json()["error"] == "invalid_grant"
        newest = first.json()["refresh_token"]
        last = await refresh(provider, newest, holder.proof("POST", TOKEN, provider.clock()))
        assert last.status_code == 200, "a stranger without the key ends nothing"

    async def test_m6_a_confidential_client_is_bound_by_its_secret(
        self, provider: Provider, ada: Person
    ) -> None:
        token = (await bound(provider, ada, Holder(), SHOP))["refresh_token"]
        answer = await refresh(provider, token, Holder().proof("POST", TOKEN, provider.clock()), SHOP)
        assert answer.json()["token_type"] == "DPoP"
        plain = await refresh(provider, answer.json()["refresh_token"], None, SHOP)
        assert plain.json()["token_type"] == "Bearer"


class TestCodes:
    async def test_m7_a_named_key_must_come_for_the_code(self, provider: Provider, ada: Person) -> None:
        holder, pkce = Holder(), Pkce()
        code = await provider.code(ada, pkce, TOOL, dpop_jkt=holder.thumbprint)
        for headers in ({}, Holder().proof("POST", TOKEN, provider.clock())):
            refused = await redeem(provider, code, pkce, TOOL, headers)
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        proof = holder.proof("POST", TOKEN, provider.clock())
        assert (await redeem(provider, code, pkce, TOOL, proof)).status_code == 200

    async def test_m7_what_is_no_thumbprint(self, provider: Provider, ada: Person) -> None:
        answer = await provider.authorize(ada, Pkce(), PORTAL, dpop_jkt="short")
        assert query_of(answer)["error"] == "invalid_request"

    async def test_m7_a_pushed_proof_binds_the_code(self, provider: Provider, ada: Person) -> None:
        holder, pkce = Holder(), Pkce()
        form = {**wanted(pkce, PORTAL), **provider.authentication(PORTAL)}
        proof = holder.proof("POST", f"{ISSUER}/par", provider.clock())
        other = {**form, "dpop_jkt": Holder().thumbprint}
        refused = await provider.http.post("/auth/par", data=other, headers=proof)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof")
        proof = holder.proof("POST", f"{ISSUER}/par", provider.clock())
        address = (await provider.http.post("/auth/par", data=form, headers=proof)).json()["request_uri"]
        sent = await ada.browser.get("/auth/authorize", params={"client_id": PORTAL, "request_uri": address})
        code = query_of(sent)["code"]
        assert (await redeem(provider, code, pkce, PORTAL, {})).json()["error"] == "invalid_grant"
        proof = holder.proof("POST", TOKEN, provider.clock())
        assert (await redeem(provider, code, pkce, PORTAL, proof)).status_code == 200
