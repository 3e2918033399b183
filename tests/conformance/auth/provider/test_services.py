"""Clients that act on their own, and clients that prove themselves by a key. Rows D3, D9, D10, D12 and G4."""

import asyncio
import base64
import secrets
from typing import Any

import httpx2
import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey

from auth_server.clients.errors import RegistrationRefused
from shared.kernel.principal import Role
from tests.conformance.auth.provider.keys import Signing, as_form, kinds, sign, signed_by_text
from tests.conformance.auth.provider.provider import ISSUER, ORIGIN, SHOP_SECRET, TOOL, Provider

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE: dict[str, Any] = {
    "grant_types": ["client_credentials"],
    "redirect_uris": [],
    "role": "operator",
    "scopes": ["openid", "fleet:read", "fleet:write", "audit:read"],
}


async def service(provider: Provider, **wanted: Any) -> dict[str, str]:
    """A new service; answers the form by which it says who it is."""
    client_id = f"svc-{secrets.token_hex(4)}"
    await provider.register(client_id=client_id, **{**SERVICE, **wanted})
    return {"client_id": client_id, "client_secret": SHOP_SECRET}


async def serve(provider: Provider, who: dict[str, str], **form: str) -> httpx2.Response:
    return await provider.http.post("/auth/token", data={"grant_type": "client_credentials", **who, **form})


async def ask(provider: Provider, path: str, who: dict[str, str], token: str) -> httpx2.Response:
    return await provider.http.post(path, data={**who, "token": token})


class TestClientCredentials:
    async def test_d13_a_service_gets_a_token_of_its_own(self, provider: Provider) -> None:
        who = await service(provider)
        answer = await serve(provider, who)
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"access_token", "token_type", "expires_in", "scope"}
        assert answer.json()["scope"] == "fleet:read fleet:write"
        claims = await provider.read(answer.json()["access_token"])
        assert claims["sub"] == claims["client_id"] == who["client_id"]
        assert claims["aud"] == [ISSUER, f"{ORIGIN}/api"]
        assert claims["role"] == "operator"
        assert "auth_time" not in claims

    async def test_a13_scopes_are_those_of_client_role_and_request(self, provider: Provider) -> None:
        who = await service(provider)
        narrow = await serve(provider, who, scope="fleet:read audit:read nonsense")
        assert narrow.json()["scope"] == "fleet:read"
        for forbidden in ("audit:read", "openid", "nonsense"):
            refused = await serve(provider, who, scope=forbidden)
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_scope")

    async def test_d9_no_public_client_acts_on_its_own(self, provider: Provider) -> None:
        refused = await serve(provider, {"client_id": TOOL})
        assert refused.json()["error"] == "unauthorized_client"
        who = await service(provider)
        assert (await serve(provider, {"client_id": who["client_id"]})).status_code == 401
        with pytest.raises(RegistrationRefused):
            await provider.register(secret=None, client_id="open", **SERVICE)
        with pytest.raises(RegistrationRefused):
            await provider.register(client_id="idle", **{**SERVICE, "role": None})

    async def test_g4_it_is_introspected(self, provider: Provider) -> None:
        who = await service(provider)
        token = (await serve(provider, who)).json()["access_token"]
        said = (await ask(provider, "/auth/introspect", who, token)).json()
        assert said["active"] is True
        assert said["sub"] == said["client_id"] == who["client_id"]
        assert (said["role"], said["token_type"]) == ("operator", "Bearer")
        assert (await provider.introspect(token))["active"] is True, "the API's own client sees it too"
        stranger = await service(provider)
        assert (await ask(provider, "/auth/introspect", stranger, token)).json() == {"active": False}

    async def test_f4_a_service_ends_one_token_and_no_other(self, provider: Provider) -> None:
        who, stranger = await service(provider), await service(provider)
        first, second = [(await serve(provider, who)).json()["access_token"] for _ in range(2)]
        assert (await ask(provider, "/auth/revoke", stranger, first)).status_code == 200
        assert (await provider.introspect(first))["active"] is True
        answers = await asyncio.gather(*(ask(provider, "/auth/revoke", who, first) for _ in range(5)))
        assert {answer.status_code for answer in answers} == {200}
        assert await provider.introspect(first) == {"active": False}
        assert (await provider.introspect(second))["active"] is True
        assert await provider.rows("SELECT 1 FROM ended_tokens")
        provider.clock.turn(minutes=11)
        async with provider.services() as services:
            await services.inspection.forget()
        assert not await provider.rows("SELECT 1 FROM ended_tokens")

    async def test_g5_a_service_that_is_shut_out_or_lesser_now(self, provider: Provider) -> None:
        who = await service(provider)
        token = (await serve(provider, who)).json()["access_token"]
        await provider.execute("UPDATE clients SET role = 'viewer' WHERE id = :id", id=who["client_id"])
        await provider.resources.known_clients.forget()
        assert (await provider.introspect(token))["scope"] == "fleet:read"
        await provider.execute(
            "UPDATE clients SET disabled_at = created_at WHERE id = :id", id=who["client_id"]
        )
        await provider.resources.known_clients.forget()
        assert await provider.introspect(token) == {"active": False}
        assert (await serve(provider, who)).status_code == 401

    async def test_i5_nobody_is_behind_it(self, provider: Provider) -> None:
        token = (await serve(provider, await service(provider))).json()["access_token"]
        refused = await provider.userinfo(token)
        assert (refused.status_code, refused.json()["error"]) == (403, "insufficient_scope")


class TestAssertions:
    @pytest.fixture(autouse=True)
    def earlier_failures_forgotten(self, provider: Provider) -> None:
        provider.clock.turn(minutes=6)

    async def client(self, provider: Provider, signing: Signing | None = None) -> Signing:
        signing = signing or Signing(f"key-{secrets.token_hex(4)}")
        await provider.register(secret=None, client_id=signing.client_id, public_keys=signing.jwks, **SERVICE)
        return signing

    @pytest.mark.parametrize("which", range(4))
    async def test_d9_every_kind_of_key_works(self, provider: Provider, which: int) -> None:
        key, alg = kinds()[which]
        signing = await self.client(provider, Signing(f"key-{secrets.token_hex(4)}", key, alg))
        for audience in (ISSUER, f"{ISSUER}/token", [ISSUER]):
            answer = await serve(provider, signing.assertion(audience, provider.clock()))
            assert answer.status_code == 200, answer.text

    async def test_d9_a_key_is_never_optional(self, provider: Provider) -> None:
        signing = await self.client(provider)
        for who in ({}, {"client_secret": ""}, {"client_secret": SHOP_SECRET}):
            answer = await serve(provider, {"client_id": signing.client_id, **who})
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        whose = await service(provider)
        other = Signing(whose["client_id"])
        answer = await serve(provider, other.assertion(ISSUER, provider.clock()))
        assert answer.status_code == 401, "a client with a secret shows that"

    async def test_d9_an_assertion_is_good_once(self, provider: Provider) -> None:
        signing = await self.client(provider)
        shown = signing.assertion(ISSUER, provider.clock())
        answers = await asyncio.gather(*(serve(provider, shown) for _ in range(10)))
        assert sorted(answer.status_code for answer in answers) == [200, *[401] * 9]
        assert (await ask(provider, "/auth/introspect", shown, "x")).status_code == 401
        fresh = signing.assertion(ISSUER, provider.clock())
        assert (await ask(provider, "/auth/introspect", fresh, "x")).json() == {"active": False}
        assert (await ask(provider, "/auth/revoke", fresh, "x")).status_code == 401

    async def test_d9_an_assertion_is_spent_whatever_comes_of_the_request(self, provider: Provider) -> None:
        signing = await self.client(provider)
        shown = signing.assertion(ISSUER, provider.clock())
        assert (await serve(provider, shown, scope="nonsense")).json()["error"] == "invalid_scope"
        assert (await serve(provider, shown)).json()["error"] == "invalid_client"

    @pytest.mark.parametrize(
        "changes",
        [
            {"iss": "other"},
            {"sub": "other"},
            {"aud": "https://other.example"},
            {"aud": [ISSUER, "https://other.example"]},
            {"aud": None},
            {"jti": None},
            {"jti": ""},
            {"jti": "x" * 300},
            {"jti": 7},
            {"exp": None},
            {"exp": "soon"},
            {"exp": True},
            {"exp": 1},
            {"exp": 1e300},
            {"exp": 4102444800},
            {"nbf": 4102444800},
            {"iat": 4102444800},
        ],
    )
    async def test_d9_forged_claims(self, provider: Provider, changes: dict[str, Any]) -> None:
        signing = await self.client(provider)
        who = signing.assertion(ISSUER, provider.clock(), **changes)
        answer = await serve(provider, {"client_id": signing.client_id, **who})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")

    async def test_d9_forged_signatures(self, provider: Provider) -> None:
        signing = await self.client(provider)
        claims = {"iss": signing.client_id, "sub": signing.client_id, "aud": ISSUER, "jti": "j"}
        good = {**claims, "exp": int(provider.clock().timestamp()) + 60}
        stranger = ECKey.generate_key("P-256")
        head = signing.token(ISSUER, provider.clock()).split(".")
        forgeries = [
            sign({"alg": "ES256"}, good, stranger),
            sign({"alg": "ES256", "kid": "k1"}, good, stranger),
            sign({"alg": "ES256", "kid": "k2"}, good, signing.key),
            signed_by_text({"alg": "HS256", "kid": "k1"}, good, signing.key.as_pem(private=False)),
            sign({"alg": "RS256", "kid": "k1"}, good, RSAKey.generate_key(2048)),
            f"eyJhbGciOiJub25lIn0.{head[1]}.",
            f"{head[0]}.{head[1]}.",
            "x.y.z",
            "é.é.é",
            "x" * 9000,
            f"{head[0]}.W10.{head[2]}",
        ]
        for forged in forgeries:
            who = {"client_id": signing.client_id, **as_form(forged)}
            assert (await serve(provider, who)).status_code == 401, forged[:60]
            assert (await serve(provider, as_form(forged))).status_code == 401
            provider.clock.turn(minutes=6)

    async def test_d7_an_assertion_and_a_secret_at_once(self, provider: Provider) -> None:
        signing = await self.client(provider)
        shown = signing.assertion(ISSUER, provider.clock())
        form = {"grant_type": "client_credentials", **shown}
        both = await serve(provider, {**shown, "client_secret": "x"})
        assert (both.status_code, both.json()["error"]) == (400, "invalid_request")
        twice = await provider.http.post("/auth/token", data=form, auth=(signing.client_id, "x"))
        assert (twice.status_code, twice.json()["error"]) == (400, "invalid_request")
        wrong = await serve(provider, {**shown, "client_assertion_type": "other"})
        assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")

    async def test_a9_only_public_keys_are_registered(self, provider: Provider) -> None:
        private = ECKey.generate_key("P-256").as_dict(private=True)
        modulus = base64.urlsafe_b64encode((2**1023 + 1).to_bytes(128)).rstrip(b"=").decode()
        small = {"kty": "RSA", "e": "AQAB", "n": modulus}
        secret = OctKey.generate_key(256).as_dict(private=True)
        curve = ECKey.generate_key("P-521").as_dict(private=False)
        for jwk in (private, small, secret, curve, {}, {"kty": "EC"}, {"kty": "EC", "crv": "P-256", "x": 1}):
            with pytest.raises(RegistrationRefused):
                await provider.register(secret=None, client_id="bad-key", public_keys=[jwk])

    async def test_d12_guessing_assertions_is_throttled(self, provider: Provider) -> None:
        signing = await self.client(provider)
        stranger = Signing(signing.client_id)
        for _ in range(20):
            assert (await serve(provider, stranger.assertion(ISSUER, provider.clock()))).status_code == 401
        last = await serve(provider, stranger.assertion(ISSUER, provider.clock()))
        assert (last.status_code, last.json()["error"]) == (429, "slow_down")

    async def test_d9_used_assertions_are_forgotten_when_they_are_too_old(self, provider: Provider) -> None:
        signing = await self.client(provider)
        assert (await serve(provider, signing.assertion(ISSUER, provider.clock()))).status_code == 200
        assert await provider.rows("SELECT 1 FROM used_proofs")
        provider.clock.turn(minutes=3)
        async with provider.services() as services:
            await services.clients.forget()
        assert not await provider.rows("SELECT 1 FROM used_proofs")


async def test_d10_a_role_alone_gives_no_grant(provider: Provider) -> None:
    who = await service(provider, grant_types=["refresh_token"], role=Role.ADMIN)
    assert (await serve(provider, who)).json()["error"] == "unauthorized_client"
