"""ID tokens, userinfo and the use of bearer tokens. Rows I1 to I7."""

import base64
import hashlib

import pytest

from auth_server.sessions.service import PASSKEY, RECOVERY_CODE
from shared.kernel.principal import Role
from tests.conformance.auth.provider.provider import ISSUER, PORTAL, Person, Provider

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_i1_an_id_token(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    again = await provider.tokens(ada)
    claims = await provider.read(tokens["id_token"])
    assert (claims["iss"], claims["aud"]) == (ISSUER, PORTAL)
    assert claims["sub"] == (await provider.read(again["id_token"]))["sub"]
    assert claims["sub"].isascii()
    assert len(claims["sub"]) <= 255
    assert claims["iat"] == int(provider.clock().timestamp())
    assert claims["exp"] == claims["iat"] + 600
    digest = hashlib.sha256(tokens["access_token"].encode()).digest()[:16]
    assert claims["at_hash"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


async def test_i2_auth_time_is_the_real_sign_in(provider: Provider, ada: Person) -> None:
    signed_in = int(provider.clock().timestamp())
    first = await provider.tokens(ada)
    provider.clock.turn(hours=1)
    second = await provider.tokens(ada)
    provider.clock.turn(hours=1)
    third = (await provider.refresh(second["refresh_token"])).json()
    for tokens in (first, second, third):
        assert (await provider.read(tokens["id_token"]))["auth_time"] == signed_in


async def test_i3_a_passkey_and_a_recovery_code_can_be_told_apart(provider: Provider) -> None:
    for methods in (PASSKEY, RECOVERY_CODE):
        person = await provider.person(amr=methods)
        tokens = await provider.tokens(person)
        assert (await provider.read(tokens["id_token"]))["amr"] == list(methods)


async def test_i4_userinfo_by_get_and_post(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    subject = (await provider.read(tokens["id_token"]))["sub"]
    token = tokens["access_token"]
    for answer in (
        await provider.http.get("/auth/userinfo", headers=bearer(token)),
        await provider.http.post("/auth/userinfo", headers=bearer(token)),
        await provider.http.post("/auth/userinfo", data={"access_token": token}),
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["sub"] == subject


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_i5_no_token_is_a_bare_challenge(provider: Provider, method: str) -> None:
    answer = await provider.http.request(method, "/auth/userinfo")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert "error" not in answer.headers["www-authenticate"]


async def test_i5_a_bad_token_and_one_without_openid(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    for bad in ("x", "a.b.c", tokens["id_token"], tokens["refresh_token"], tokens["access_token"] + "x"):
        answer = await provider.userinfo(bad)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    narrow = await provider.tokens(ada, scope="fleet:read")
    answer = await provider.userinfo(narrow["access_token"])
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")


async def test_i6_one_transport_and_never_the_address(provider: Provider, ada: Person) -> None:
    token = (await provider.tokens(ada))["access_token"]
    asked = {"access_token": token}
    for answer in (
        await provider.http.get("/auth/userinfo", params=asked),
        await provider.http.get("/auth/userinfo", params=asked, headers=bearer(token)),
        await provider.http.post("/auth/userinfo", data=asked, headers=bearer(token)),
        await provider.http.post("/auth/userinfo", data={"access_token": [token, token]}),
        await provider.http.get("/auth/userinfo", headers=[*bearer(token).items()] * 2),
    ):
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("scope", "claims"),
    [
        ("openid", {"sub"}),
        ("openid profile", {"sub", "name", "preferred_username", "role"}),
        ("openid email", {"sub"}),
    ],
)
async def test_i7_claims_follow_the_scopes(
    provider: Provider, ada: Person, scope: str, claims: set[str]
) -> None:
    tokens = await provider.tokens(ada, scope=scope)
    assert set((await provider.userinfo(tokens["access_token"])).json()) == claims
    told = set(await provider.read(tokens["id_token"]))
    assert told & {"name", "preferred_username", "role", "email"} == claims - {"sub"}


async def test_i7_the_role_is_that_of_now(provider: Provider) -> None:
    viewer = await provider.person(Role.VIEWER)
    tokens = await provider.tokens(viewer)
    assert (await provider.read(tokens["access_token"]))["role"] == "viewer"
    assert (await provider.userinfo(tokens["access_token"])).json()["role"] == "viewer"
