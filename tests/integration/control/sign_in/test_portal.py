"""Signing in to the portal through the sign-in service, and what must not pass for it."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from shared.kernel.principal import Role
from tests.integration.control.sign_in.house import CSRF, House

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_person_known_there_is_signed_in_and_goes_on(any_house: House) -> None:
    surfer = await any_house.known_there(await any_house.account(Role.OPERATOR))
    assert (await surfer.get("/nodes")).headers["location"] == "/sign-in?next=/nodes"
    answer = await surfer.follow(await surfer.sign_in("/nodes"))
    assert answer.status_code == 200
    assert answer.url.path == "/nodes"
    row = await any_house.session_of(surfer)
    assert row.role == "operator"
    assert row.method == "oidc"
    assert row.sub
    assert row.sid
    assert row.grant_id
    assert row.digest not in surfer.cookies.values()
    assert "session.began" in await any_house.actions()


async def test_the_request_is_one_that_every_provider_accepts(house: House) -> None:
    surfer = await house.known_there(await house.account())
    sent = await surfer.post("/sign-in", next="/")
    asked = dict(parse_qsl(urlsplit(sent.headers["location"]).query))
    assert sent.headers["location"].startswith(f"{house.origin}/auth/authorize?")
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert asked["scope"] == "openid profile"
    assert asked["redirect_uri"] == f"{house.origin}/sign-in/callback"
    assert len(asked["nonce"]) >= 32
    assert len(asked["state"]) >= 32
    assert "prompt" not in asked


async def test_a_form_from_another_site_begins_nothing(house: House) -> None:
    surfer = house.surfer()
    surfer.cookies.clear()
    assert (await surfer.post("/sign-in")).status_code == 403
    surfer.cookies["__Host-rl_csrf"] = CSRF[::-1] + "x"
    assert (await surfer.post("/sign-in")).status_code == 403


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:0"]
)
async def test_it_leads_nowhere_else(house: House, target: str) -> None:
    surfer = await house.known_there(await house.account())
    assert (await surfer.sign_in(target)).headers["location"] == "/"


async def test_a_callback_is_good_once(any_house: House) -> None:
    account = await any_house.account()
    surfer = await any_house.known_there(account)
    callback = await surfer.callback_of()
    answers = await asyncio.gather(*(surfer.get(callback) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [303] + [410] * 9
    assert len(await any_house.live_sessions(account)) == 1


async def test_a_callback_is_good_in_its_own_browser_only(house: House) -> None:
    """Else a link would sign its reader in as whoever made it."""
    surfer = await house.known_there(await house.account())
    callback = await surfer.callback_of()
    victim = house.surfer()
    assert (await victim.get(callback)).status_code == 410
    await victim.post("/sign-in")
    assert (await victim.get(callback)).status_code == 410
    assert "__Host-rl_control" not in victim.cookies
    assert (await surfer.get(callback)).status_code == 410, "and it is spent"


async def test_two_tabs_sign_in_one_after_the_other(house: House) -> None:
    account = await house.account()
    surfer = await house.known_there(account)
    first, second = await surfer.callback_of("/nodes"), await surfer.callback_of("/probes")
    assert (await surfer.get(first)).headers["location"] == "/nodes"
    assert (await surfer.get(second)).headers["location"] == "/probes"
    assert len(await house.live_sessions(account)) == 1


async def test_a_callback_has_its_time(any_house: House) -> None:
    surfer = await any_house.known_there(await any_house.account())
    sent = await surfer.post("/sign-in")
    any_house.clock.turn(timedelta(minutes=31))
    back = await surfer.get(sent.headers["location"])
    assert (await surfer.get(back.headers["location"])).status_code == 410


@pytest.mark.parametrize(
    ("name", "value"),
    [("iss", "https://evil.example/auth"), ("iss", ""), ("state", "sql-0"), ("state", ""), ("code", "rlc_x")],
)
async def test_a_changed_callback_signs_nobody_in(house: House, name: str, value: str) -> None:
    surfer = await house.known_there(await house.account())
    callback = await surfer.callback_of()
    parts = urlsplit(callback)
    changed = {**dict(parse_qsl(parts.query)), name: value}
    query = "&".join(f"{k}={v}" for k, v in changed.items() if v)
    answer = await surfer.get(f"{parts.path}?{query}")
    assert answer.status_code == 410
    assert "Sign in" in answer.text
    assert not await house.is_in(surfer)


async def test_a_code_of_another_sign_in_is_refused(house: House) -> None:
    """The verifier binds a code to the request that it answers."""
    mine, theirs = [await house.known_there(await house.account()) for _ in range(2)]
    stolen = dict(parse_qsl(urlsplit(await theirs.callback_of()).query))["code"]
    callback = await mine.callback_of()
    own = dict(parse_qsl(urlsplit(callback).query))["code"]
    assert (await mine.get(callback.replace(own, stolen))).status_code == 410
    assert not await house.is_in(mine)


async def test_whoever_declines_is_told_so(house: House) -> None:
    surfer = await house.known_there(await house.account())
    parts = dict(parse_qsl(urlsplit(await surfer.callback_of()).query))
    answer = await surfer.get(
        f"/sign-in/callback?state={parts['state']}&iss={parts['iss']}&error=access_denied"
    )
    assert answer.status_code == 410
    assert "chose not to sign in" in answer.text


async def test_signing_in_again_ends_the_session_before(house: House) -> None:
    surfer = await house.signed_in()
    before = surfer.cookies["__Host-rl_control"]
    callback = await surfer.callback_of()
    await surfer.get(callback)
    assert surfer.cookies["__Host-rl_control"] != before
    surfer.cookies["__Host-rl_control"] = before
    assert not await house.is_in(surfer)


async def test_signing_out_signs_out_there_too(any_house: House) -> None:
    surfer = await any_house.signed_in()
    cookie = surfer.cookies["__Host-rl_control"]
    answer = await surfer.post("/sign-out")
    assert answer.headers["location"].startswith(f"{any_house.origin}/auth/logout?")
    end = await surfer.follow(answer)
    assert end.url.path == "/sign-in"
    assert "__Host-rl_auth" not in surfer.cookies
    surfer.cookies["__Host-rl_control"] = cookie
    assert not await any_house.is_in(surfer)
    again = await surfer.post("/sign-in")
    asked = await surfer.get(again.headers["location"])
    assert urlsplit(asked.headers["location"]).path == "/auth/sign-in", "a passkey is needed again"


async def test_a_link_session_signs_out_here(house: House) -> None:
    surfer = await house.by_link()
    assert (await surfer.post("/sign-out")).headers["location"] == "/sign-in"
    assert not await house.is_in(surfer)


async def test_too_many_spoilt_callbacks_from_one_address_wait(own_house: House) -> None:
    surfer = await own_house.known_there(await own_house.account())
    good = await surfer.callback_of()
    spoilt = [await surfer.get(f"/sign-in/callback?state=sql-{n}&code=x") for n in range(61)]
    assert [answer.status_code for answer in spoilt] == [410] * 60 + [429]
    assert "Too many failed attempts" in spoilt[-1].text
    assert (await surfer.get(good)).status_code == 429
    own_house.clock.turn(timedelta(seconds=901))
    assert (await surfer.sign_in()).status_code == 303
