"""OAuth access tokens at the API: local checks, introspection, revocation, and the sign-in service away."""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from auth_server.signing_keys.dependencies import key_ring
from shared.kernel.principal import Role
from tests.integration.control.sign_in.house import House

pytestmark = pytest.mark.asyncio(loop_scope="package")

FLEET = "openid offline_access fleet:read fleet:write access:admin"


def changed(token: str, index: int, **values: Any) -> str:
    """The token with something else in its header (0) or claims (1), signed as before."""
    parts = token.split(".")
    found = json.loads(urlsafe_b64decode(parts[index] + "=="))
    parts[index] = part({**found, **values})
    return ".".join(parts)


def part(values: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(values).encode()).rstrip(b"=").decode()


def by_hmac(header: dict[str, Any], claims: dict[str, Any], key: bytes) -> str:
    """Signed with a public key as if it were a shared secret, which libraries refuse to do."""
    text = f"{part(header)}.{part(claims)}"
    signature = hmac.digest(key, text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def signed(house: House, typ: str = "at+jwt", **changes: Any) -> str:
    """A token that the sign-in service itself signed, with other claims."""
    at = int(house.clock().timestamp())
    claims = {
        "iss": f"{house.origin}/auth",
        "aud": f"{house.origin}/api",
        "sub": "s",
        "client_id": "c",
        "jti": "j",
        "scope": "fleet:read",
        "grant_id": "00000000-0000-4000-8000-000000000000",
        "role": "admin",
        "iat": at,
        "exp": at + 600,
        **changes,
    }
    claims = {name: value for name, value in claims.items() if value is not None}
    async with house.auth.database.reading() as session:
        ring = key_ring(house.auth, session, house.auth_app.state.opened_keys)
        return await ring.sign(claims, typ)


async def test_a_good_token_is_let_in_as_its_person(any_house: House) -> None:
    token = (await any_house.access_token(Role.ADMIN, FLEET))["access_token"]
    assert (await any_house.api(token)).status_code == 200
    made = await any_house.http.post(
        f"{any_house.origin}/api/v1/enrolment-tokens", json={}, headers={"Authorization": f"Bearer {token}"}
    )
    assert made.status_code == 201, "a token is narrowed by scopes, nobody steps up for it"
    row = (await any_house.rows("SELECT actor_id FROM audit_events ORDER BY id DESC"))[0]
    assert row.actor_id.startswith("person:")


@pytest.mark.parametrize(
    ("role", "scope", "path", "status"),
    [
        (Role.ADMIN, "openid fleet:read", "/api/v1/audit", 403),
        (Role.ADMIN, "openid audit:read", "/api/v1/audit", 200),
        (Role.ADMIN, "openid audit:read", "/api/v1/nodes", 403),
        (Role.VIEWER, FLEET + " audit:read", "/api/v1/audit", 403),
        (Role.VIEWER, FLEET, "/api/v1/nodes", 200),
        (Role.ADMIN, "openid profile", "/api/v1/nodes", 401),
    ],
)
async def test_scopes_and_role_both_narrow(
    house: House, role: Role, scope: str, path: str, status: int
) -> None:
    token = (await house.access_token(role, scope))["access_token"]
    assert (await house.api(token, path)).status_code == status


async def test_a_lost_role_is_lost_within_a_second(house: House) -> None:
    token = (await house.access_token(Role.ADMIN, "openid audit:read"))["access_token"]
    assert (await house.api(token, "/api/v1/audit")).status_code == 200
    async with house.auth.database.transaction() as session:
        connection = await session.connection()
        await connection.exec_driver_sql("UPDATE accounts SET role = 'viewer'")
    house.clock.turn(timedelta(seconds=1))
    assert (await house.api(token, "/api/v1/audit")).status_code == 403


async def test_a_revoked_grant_is_seen_within_a_second(any_house: House) -> None:
    answer = await any_house.access_token(Role.ADMIN, FLEET)
    token = answer["access_token"]
    assert (await any_house.api(token)).status_code == 200
    secret = any_house.control.settings.client_secret_file.read_text().strip()
    revoked = await any_house.http.post(
        f"{any_house.origin}/auth/revoke", data={"token": token}, auth=("routeloom-portal", secret)
    )
    assert revoked.status_code == 200
    assert (await any_house.api(token)).status_code == 200, "asked again after a second at the latest"
    any_house.clock.turn(timedelta(seconds=1))
    refused = await any_house.api(token)
    assert refused.status_code == 401
    assert refused.json()["code"] == "access_token_refused"
    assert refused.headers["www-authenticate"].startswith("Bearer")


async def test_an_expired_token_is_refused_at_once(house: House) -> None:
    token = (await house.access_token())["access_token"]
    assert (await house.api(token)).status_code == 200
    house.clock.turn(timedelta(minutes=11))
    assert (await house.api(token)).status_code == 401


async def test_with_the_sign_in_service_away_a_good_token_stays_good_for_a_while(
    own_house: House,
) -> None:
    house = own_house
    seen, unseen = [(await house.access_token(Role.ADMIN, FLEET))["access_token"] for _ in range(2)]
    assert (await house.api(seen)).status_code == 200
    await house.inner.stop()
    house.clock.turn(timedelta(seconds=2))
    assert (await house.api(seen)).status_code == 200
    house.clock.turn(timedelta(seconds=2))
    refused = await house.api(unseen)
    assert refused.status_code == 503, "never checked, so never good"
    assert refused.json()["code"] == "auth_unavailable"
    assert int(refused.headers["retry-after"]) >= 1
    house.clock.turn(timedelta(minutes=4))
    assert (await house.api(seen)).status_code == 200
    house.clock.turn(timedelta(minutes=1))
    assert (await house.api(seen)).status_code == 503


def wrong_claims() -> Iterator[Any]:
    yield pytest.param({"iss": "https://evil.example/auth"}, id="issuer")
    yield pytest.param({"aud": "https://other.example/api"}, id="audience")
    yield pytest.param({"aud": None}, id="no audience")
    yield pytest.param({"exp": 1}, id="expired")
    yield pytest.param({"exp": None}, id="endless")
    yield pytest.param({"sub": None}, id="nobody")
    yield pytest.param({"client_id": None}, id="no client")
    yield pytest.param({"jti": None}, id="no id")
    yield pytest.param({"typ": "JWT"}, id="an ID token")
    yield pytest.param({"typ": "logout+jwt"}, id="a logout token")
    yield pytest.param({}, id="unknown grant")


@pytest.mark.parametrize("changes", list(wrong_claims()))
async def test_claims_are_checked(house: House, changes: dict[str, Any]) -> None:
    answer = await house.api(await signed(house, **changes))
    assert (answer.status_code, answer.json()["code"]) == (401, "access_token_refused")


async def test_no_forgery_passes(house: House) -> None:
    good = await house.access_token(Role.ADMIN, FLEET)
    token = good["access_token"]
    keys = (await house.http.get(f"{house.origin}/auth/jwks.json")).json()["keys"]
    public = next(key for key in keys if key["kty"] == "RSA")
    pem = RSAKey.import_key(public).as_pem(private=False)
    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    own = ECKey.generate_key("P-256", {"kid": "mine"})
    header = {"typ": "at+jwt", "kid": public["kid"]}
    forgeries = [
        good["id_token"],
        good["refresh_token"],
        changed(token, 1, scope="access:admin"),
        changed(token, 0, alg="none"),
        changed(token, 0, alg="none").rsplit(".", 1)[0] + ".",
        changed(token, 0, alg="RS256"),
        changed(token, 0, kid="unknown"),
        changed(token, 0, typ="JWT"),
        by_hmac({**header, "alg": "HS256"}, claims, pem),
        jwt.encode({"typ": "at+jwt", "alg": "ES256", "kid": "mine"}, claims, own, algorithms=["ES256"]),
        jwt.encode(
            {"typ": "at+jwt", "alg": "ES256", "jwk": own.as_dict(private=False)},
            claims,
            own,
            algorithms=["ES256"],
        ),
        changed(token, 0, jku="https://evil.example/keys"),
        changed(token, 0, x5u="https://evil.example/certificate"),
        changed(token, 0, crit=["b64"], b64=False),
        "a.b.c",
        "..",
        "." * 9000,
        f"{token}.x",
    ]
    statuses = [(await house.api(forged)).status_code for forged in forgeries]
    assert statuses == [401] * len(forgeries)
    assert (await house.api(token)).status_code == 200


async def test_strange_keys_do_not_make_it_ask_again_and_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await house.access_token())["access_token"]
    assert (await house.api(token)).status_code == 200
    asked: list[str] = []
    send = house.control.http.send

    async def counted(request: Any, **more: Any) -> Any:
        asked.append(request.url.path)
        return await send(request, **more)

    monkeypatch.setattr(house.control.http, "send", counted)
    for number in range(10):
        assert (await house.api(changed(token, 0, kid=f"k{number}"))).status_code == 401
    assert asked.count("/auth/jwks.json") <= 1


async def test_too_many_bad_bearers_from_one_address_are_not_looked_at(own_house: House) -> None:
    good = (await own_house.access_token())["access_token"]
    throttle = own_house.control_app.state.authenticate.throttle
    throttle.limit = 5
    seen = [(await own_house.api(f"{good}{number}")).status_code for number in range(6)]
    assert seen == [401] * 5 + [429]
    answer = await own_house.api(good)
    assert (answer.status_code, answer.json()["code"]) == (429, "sign_in_throttled")
    assert int(answer.headers["retry-after"]) <= 900
    own_house.clock.turn(timedelta(seconds=901))
    assert (await own_house.api((await own_house.access_token())["access_token"])).status_code == 200
