"""Signing in where no browser is. Rows L1 to L6."""

import asyncio
from typing import Any

import httpx2
import pytest

from auth_server.clients.service import CLI
from auth_server.device.rules import ALPHABET, mint_user_code, normal_user_code
from auth_server.device.tasks import loops
from shared.kernel.principal import SYSTEM, Role
from tests.conformance.auth.provider.provider import ISSUER, SHOP, SHOP_SECRET, TOOL, Person, Provider

pytestmark = pytest.mark.asyncio(loop_scope="session")

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
ALL_OF_IT = "openid profile offline_access fleet:read"


@pytest.fixture(autouse=True)
def earlier_failures_forgotten(provider: Provider) -> None:
    provider.clock.turn(minutes=16)


async def begin(provider: Provider, client_id: str = CLI, **form: str) -> dict[str, Any]:
    sent = {**provider.authentication(client_id), "scope": ALL_OF_IT, **form}
    answer = await provider.http.post("/auth/device", data=sent)
    assert answer.status_code == 200, answer.text
    begun: dict[str, Any] = answer.json()
    return begun


async def poll(provider: Provider, begun: dict[str, Any], client_id: str = CLI) -> httpx2.Response:
    return await provider.token(client_id, grant_type=GRANT, device_code=begun["device_code"])


async def error_of(provider: Provider, begun: dict[str, Any], client_id: str = CLI) -> str:
    answer = await poll(provider, begun, client_id)
    assert answer.status_code == 400
    return str(answer.json()["error"])


async def look(person: Person, user_code: str) -> httpx2.Response:
    return await person.browser.get("/auth/device", params={"user_code": user_code})


async def decide(person: Person, user_code: str, decision: str = "allow", **more: str) -> httpx2.Response:
    form = {"csrf_token": person.csrf, "user_code": user_code, "decision": decision, **more}
    return await person.browser.post("/auth/device/decision", data=form)


async def confirm(person: Person, begun: dict[str, Any], decision: str = "allow") -> None:
    assert (await look(person, begun["user_code"])).status_code == 200
    answer = await decide(person, begun["user_code"], decision)
    assert answer.status_code == 303, answer.text
    assert (await person.browser.get(answer.headers["location"])).status_code == 200


async def test_l1_a_device_is_told_what_to_show(provider: Provider) -> None:
    begun = await begin(provider)
    assert begun["verification_uri"] == f"{ISSUER}/device"
    assert begun["verification_uri_complete"] == f"{ISSUER}/device?user_code={begun['user_code']}"
    assert (begun["expires_in"], begun["interval"]) == (600, 5)
    letters = begun["user_code"].replace("-", "")
    assert len(letters) == 8
    assert set(letters) <= set(ALPHABET)
    kept = await provider.kept("SELECT * FROM device_authorizations")
    assert begun["device_code"] not in kept
    assert letters not in kept


async def test_l1_pending_then_slow_down_which_recovers(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    assert await error_of(provider, begun) == "authorization_pending"
    assert await error_of(provider, begun) == "slow_down"
    provider.clock.turn(seconds=6)
    assert await error_of(provider, begun) == "slow_down", "the interval is ten seconds now"
    provider.clock.turn(seconds=14)
    assert await error_of(provider, begun) == "slow_down"
    provider.clock.turn(seconds=20)
    assert await error_of(provider, begun) == "authorization_pending"
    await confirm(ada, begun)
    answer = await poll(provider, begun)
    assert answer.status_code == 200, answer.text
    assert answer.json()["scope"] == ALL_OF_IT
    claims = await provider.read(answer.json()["id_token"])
    assert (claims["sub"], claims["aud"]) == (str(ada.account_id), CLI)
    refreshed = await provider.refresh(answer.json()["refresh_token"], CLI)
    assert refreshed.status_code == 200
    assert "device.confirmed" in await provider.actions(ada)


async def test_l1_the_person_refuses(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    await confirm(ada, begun, "deny")
    assert await error_of(provider, begun) == "access_denied"
    assert "device.refused" in await provider.actions(ada)
    assert (await decide(ada, begun["user_code"])).status_code == 410


async def test_l1_nobody_confirms_in_time(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    provider.clock.turn(minutes=10)
    assert await error_of(provider, begun) == "expired_token"
    assert (await look(ada, begun["user_code"])).status_code == 410
    confirmed = await begin(provider)
    await confirm(ada, confirmed)
    provider.clock.turn(minutes=10)
    assert await error_of(provider, confirmed) == "expired_token"


async def test_l1_unknown_and_foreign_codes(provider: Provider, ada: Person) -> None:
    await provider.register(client_id="lamp", redirect_uris=[], grant_types=[GRANT])
    begun = await begin(provider)
    form = {"grant_type": GRANT, "device_code": begun["device_code"]}
    lamp = {"client_id": "lamp", "client_secret": SHOP_SECRET}
    foreign = await provider.http.post("/auth/token", data={**form, **lamp})
    assert (foreign.status_code, foreign.json()["error"]) == (400, "invalid_grant")
    for code in ("rld_nothing", "x", begun["user_code"]):
        assert await error_of(provider, {"device_code": code}) == "invalid_grant"
    missing = await provider.token(CLI, grant_type=GRANT)
    assert missing.json()["error"] == "invalid_request"
    await confirm(ada, begun)
    assert (await poll(provider, begun)).status_code == 200


async def test_l2_one_of_twenty_parallel_redemptions(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    await confirm(ada, begun)
    answers = await asyncio.gather(*(poll(provider, begun) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * 19]
    assert {answer.json().get("error") for answer in answers} == {None, "invalid_grant"}


async def test_l2_one_of_ten_parallel_answers_counts(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    await look(ada, begun["user_code"])
    decisions = ["allow", "deny"] * 5
    answers = await asyncio.gather(*(decide(ada, begun["user_code"], each) for each in decisions))
    assert sorted(answer.status_code for answer in answers) == [303, *[410] * 9]
    assert len(await provider.grants(ada)) <= 1


async def test_l3_a_confidential_client_shows_its_secret(provider: Provider) -> None:
    await provider.register(client_id="kiosk", redirect_uris=[], grant_types=[GRANT])
    refused = await provider.http.post("/auth/device", data={"client_id": "kiosk"})
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    who = {"client_id": "kiosk", "client_secret": SHOP_SECRET}
    begun = (await provider.http.post("/auth/device", data=who)).json()
    form = {"grant_type": GRANT, "device_code": begun["device_code"]}
    assert (await provider.http.post("/auth/token", data={**form, "client_id": "kiosk"})).status_code == 401
    pending = await provider.http.post("/auth/token", data={**form, **who})
    assert pending.json()["error"] == "authorization_pending"


@pytest.mark.parametrize("client", [SHOP, TOOL])
async def test_d10_a_client_that_has_no_such_grant(provider: Provider, client: str) -> None:
    answer = await provider.http.post("/auth/device", data=provider.authentication(client))
    assert (answer.status_code, answer.json()["error"]) == (400, "unauthorized_client")


@pytest.mark.parametrize(
    ("scope", "granted"), [("", "openid"), ("openid nonsense", "openid"), ("nonsense", None)]
)
async def test_a13_scopes_of_a_device(
    provider: Provider, ada: Person, scope: str, granted: str | None
) -> None:
    sent = {"client_id": CLI, "scope": scope}
    answer = await provider.http.post("/auth/device", data=sent)
    if granted is None:
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")
        return
    await confirm(ada, answer.json())
    assert (await poll(provider, answer.json())).json()["scope"] == granted


async def test_l4_the_page_shows_client_code_and_scopes_and_asks(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    page = await ada.browser.get(begun["verification_uri_complete"])
    assert page.status_code == 200
    for shown in (begun["user_code"], "Routeloom command line", "fleet:read", ada.csrf):
        assert shown in page.text
    for name, value in (("cache-control", "no-store"), ("referrer-policy", "no-referrer")):
        assert page.headers[name] == value
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert await error_of(provider, begun) == "authorization_pending", "looking allows nothing"
    await begin(provider, scope="")
    chinese = await ada.browser.get("/auth/device", headers={"Accept-Language": "zh-CN"})
    assert "连接" in chinese.text


async def test_l4_nothing_is_confirmed_for_the_person(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    for forged in ({"csrf_token": "x" * 43}, {"csrf_token": ""}, {"decision": "maybe"}):
        assert (await decide(ada, begun["user_code"], **forged)).status_code in {403, 422}
    got = await ada.browser.get(
        "/auth/device/decision", params={"user_code": begun["user_code"], "decision": "allow"}
    )
    assert got.status_code in {404, 405}
    elsewhere = await ada.browser.post(
        "/auth/device/decision",
        data={"csrf_token": ada.csrf, "user_code": begun["user_code"], "decision": "allow"},
        headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    )
    assert elsewhere.status_code == 403
    assert await error_of(provider, begun) == "authorization_pending"


async def test_l4_whoever_is_not_signed_in_comes_back_with_the_code(provider: Provider) -> None:
    begun = await begin(provider)
    answer = await provider.browser().get(begun["verification_uri_complete"])
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/auth/sign-in?next=")
    assert begun["user_code"] in answer.headers["location"]


async def test_l5_ten_wrong_codes_and_no_more(provider: Provider) -> None:
    guesser, other = await provider.person(), await provider.person()
    begun = await begin(provider)
    for _ in range(10):
        assert (await look(guesser, mint_user_code())).status_code == 410
    refused = await look(guesser, mint_user_code())
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert (await look(guesser, begun["user_code"])).status_code == 429
    assert (await decide(guesser, begun["user_code"])).status_code == 429
    assert (await look(other, begun["user_code"])).status_code == 200, "it is no lever against others"


async def test_l5_parallel_guesses_pass_no_limit(provider: Provider) -> None:
    guesser = await provider.person()
    answers = await asyncio.gather(*(look(guesser, mint_user_code()) for _ in range(30)))
    assert sum(answer.status_code == 410 for answer in answers) <= 10


async def test_l5_case_and_dashes_do_not_count(provider: Provider, ada: Person) -> None:
    begun = await begin(provider)
    code = begun["user_code"]
    for typed in (code.lower(), code.replace("-", ""), f"  {code[0]} {code[1:]} ", code.replace("-", "–")):
        page = await look(ada, typed)
        assert page.status_code == 200
        assert code in page.text
    assert (await decide(ada, code.lower().replace("-", " "))).status_code == 303
    assert (await poll(provider, begun)).status_code == 200


async def test_l5_what_is_no_code(provider: Provider, ada: Person) -> None:
    for typed in ("AAAA-AAAA", "BCDF", "é" * 8, "BCDF-GHJ1", "<svg onload=x>"):
        page = await look(ada, typed)
        assert page.status_code == 410
        assert "<svg onload" not in page.text
        assert normal_user_code(typed) is None
    assert (await look(ada, "")).status_code == 200
    assert (await look(ada, "x" * 65)).status_code == 422


@pytest.mark.parametrize("event", ["disabled", "signed out", "reset"])
async def test_l6_who_is_shut_out_before_the_device_asks(provider: Provider, event: str) -> None:
    person = await provider.person(Role.OPERATOR)
    begun = await begin(provider)
    await confirm(person, begun)
    if event == "signed out":
        await provider.end_session(person)
    else:
        async with provider.accounts() as accounts:
            if event == "disabled":
                await accounts.disable(SYSTEM, person.account_id)
            else:
                await accounts.reset_credentials(person.account_id)
    assert await error_of(provider, begun) == "invalid_grant"


async def test_l6_nobody_gives_more_than_the_own_role(provider: Provider) -> None:
    viewer = await provider.person(Role.VIEWER)
    begun = await begin(provider, scope="openid fleet:read fleet:write")
    await confirm(viewer, begun)
    assert (await poll(provider, begun)).json()["scope"] == "openid fleet:read"
    nothing = await begin(provider, scope="audit:read")
    assert (await look(viewer, nothing["user_code"])).status_code == 409
    assert (await decide(viewer, nothing["user_code"])).status_code == 409


async def test_l1_what_is_long_over_is_forgotten(provider: Provider) -> None:
    await begin(provider)
    provider.clock.turn(days=2)
    forget = next(loop for loop in loops(provider.app.state.tokens) if loop.name == "device.forget")
    await forget.run_once()
    assert await provider.rows("SELECT 1 FROM device_authorizations") == []
