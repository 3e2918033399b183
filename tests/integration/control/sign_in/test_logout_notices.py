"""Back-channel logout: the portal's sessions end with the one they hang on, and with nothing else."""

import asyncio
import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from auth_server.accounts.schemas import AccountChange
from auth_server.signing_keys.dependencies import key_ring
from shared.testing.waiting import wait_until
from tests.integration.control.sign_in.house import House, Surfer

pytestmark = pytest.mark.asyncio(loop_scope="package")

EVENT = "http://schemas.openid.net/event/backchannel-logout"
PORTAL = "routeloom-portal"


async def notice(house: House, typ: str = "logout+jwt", **changes: Any) -> str:
    """A logout token signed by the sign-in service itself."""
    at = int(house.clock().timestamp())
    claims = {
        "iss": f"{house.origin}/auth",
        "aud": PORTAL,
        "iat": at,
        "exp": at + 120,
        "jti": secrets.token_hex(8),
        "events": {EVENT: {}},
        **changes,
    }
    claims = {name: value for name, value in claims.items() if value is not None}
    async with house.auth.database.reading() as session:
        ring = key_ring(house.auth, session, house.auth_app.state.opened_keys)
        return await ring.sign(claims, typ)


async def sub_and_sid(house: House, surfer: Surfer) -> tuple[str, str]:
    row = await house.session_of(surfer)
    return row.sub, row.sid


async def tell(house: House, token: str) -> int:
    address = f"{house.origin}/sign-in/backchannel-logout"
    return (await house.http.post(address, data={"logout_token": token})).status_code


async def test_ending_the_session_there_ends_it_here(any_house: House) -> None:
    """Told by the sign-in service itself, over the network."""
    account = await any_house.account()
    here, elsewhere = [await any_house.known_there(account) for _ in range(2)]
    for surfer in (here, elsewhere):
        await surfer.sign_in()
        assert await any_house.is_in(surfer)
    await any_house.change_account(account.id, AccountChange.DISABLED)

    async def both_out() -> bool:
        return not (await any_house.is_in(here) or await any_house.is_in(elsewhere))

    await wait_until(both_out)
    assert await any_house.live_sessions(account) == []
    assert (await any_house.actions())[-1] == "session.ended"


async def test_a_notice_ends_what_it_names(any_house: House) -> None:
    first = await any_house.signed_in()
    sub, sid = await sub_and_sid(any_house, first)
    second = await any_house.signed_in()
    assert await tell(any_house, await notice(any_house, sub=sub, sid=sid)) == 200
    assert not await any_house.is_in(first)
    assert await any_house.is_in(second)


async def test_a_notice_without_a_session_ends_all_of_the_person(house: House) -> None:
    account = await house.account()
    browsers = [await house.known_there(account) for _ in range(3)]
    for surfer in browsers:
        await surfer.sign_in()
    assert await tell(house, await notice(house, sub=str(account.id))) == 200
    assert [await house.is_in(surfer) for surfer in browsers] == [False] * 3


async def test_a_notice_names_session_and_person_together_or_nothing_ends(house: House) -> None:
    first = await house.signed_in()
    _, sid = await sub_and_sid(house, first)
    assert await tell(house, await notice(house, sub="somebody-else", sid=sid)) == 200
    assert await house.is_in(first)


async def test_a_notice_is_good_once_however_often_it_comes(any_house: House) -> None:
    surfer = await any_house.signed_in()
    sub, sid = await sub_and_sid(any_house, surfer)
    token = await notice(any_house, sub=sub, sid=sid)
    answers = await asyncio.gather(*(tell(any_house, token) for _ in range(8)))
    assert sorted(answers) == [200] + [400] * 7


def forgeries() -> Iterator[Any]:
    yield pytest.param({"aud": "routeloom-cli"}, id="for another client")
    yield pytest.param({"iss": "https://evil.example/auth"}, id="of another issuer")
    yield pytest.param({"events": None}, id="without the event")
    yield pytest.param({"events": {EVENT: True}}, id="with an event that is no object")
    yield pytest.param({"events": {"http://example.example/other": {}}}, id="of another event")
    yield pytest.param({"nonce": "n"}, id="with a nonce, as ID tokens have")
    yield pytest.param({"jti": None}, id="without an id")
    yield pytest.param({"sub": None, "sid": None}, id="that names nobody")
    yield pytest.param({"sub": 7}, id="whose subject is a number")
    yield pytest.param({"exp": 1}, id="that has expired")
    yield pytest.param({"typ": "JWT"}, id="that is an ID token")
    yield pytest.param({"typ": "at+jwt"}, id="that is an access token")


@pytest.mark.parametrize("changes", list(forgeries()))
async def test_it_obeys_no_token(house: House, changes: dict[str, Any]) -> None:
    surfer = await house.signed_in()
    sub, sid = await sub_and_sid(house, surfer)
    assert await tell(house, await notice(house, **{"sub": sub, "sid": sid, **changes})) == 400
    assert await house.is_in(surfer)


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_it_obeys_no_token_from_another_time(house: House, minutes: int) -> None:
    surfer = await house.signed_in()
    sub, sid = await sub_and_sid(house, surfer)
    at = house.clock() + timedelta(minutes=minutes)
    times: dict[str, Any] = {"iat": int(at.timestamp()), "exp": int((at + timedelta(hours=1)).timestamp())}
    assert await tell(house, await notice(house, sub=sub, sid=sid, **times)) == 400


async def test_it_obeys_no_token_of_another_key(house: House) -> None:
    surfer = await house.signed_in()
    sub, sid = await sub_and_sid(house, surfer)
    real = (await house.http.get(f"{house.origin}/auth/jwks.json")).json()["keys"]
    kid = next(key["kid"] for key in real if key["kty"] == "EC")
    at = int(house.clock().timestamp())
    claims = {"iss": f"{house.origin}/auth", "aud": PORTAL, "iat": at, "exp": at + 60, "jti": "j"}
    claims |= {"events": {EVENT: {}}, "sub": sub, "sid": sid}
    forged = ECKey.generate_key("P-256")
    header = {"alg": "ES256", "kid": kid, "typ": "logout+jwt"}
    assert await tell(house, jwt.encode(header, claims, forged, algorithms=["ES256"])) == 400
    symmetric = jwt.encode(
        {**header, "alg": "HS256"}, claims, OctKey.import_key("k" * 32), algorithms=["HS256"]
    )
    assert await tell(house, symmetric) == 400
    assert await tell(house, "a.b.c") == 400
    assert await tell(house, "") == 400
    assert await house.is_in(surfer)
