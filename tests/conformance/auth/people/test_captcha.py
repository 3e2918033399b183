"""A captcha where it is due: needed, good once, of our site key, and shut when it cannot be asked. Row O7."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from auth_server.settings import AuthSettings
from shared.testing.authenticator import Claims
from tests.conformance.auth.people.cap import CapStandIn, cap_server
from tests.conformance.auth.people.house import API, House, Person, open_house

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
WRONG = "2222-2222-2222-2222"


@pytest.fixture
def cap() -> Iterator[CapStandIn]:
    with cap_server() as server:
        yield server


@pytest.fixture
async def house(
    database_url: str, tmp_path: Path, cap: CapStandIn, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    # Failures of an address that other tests have counted over all processes are none of these.
    monkeypatch.setenv("ROUTELOOM_AUTH_KV__URL", "")
    async with open_house(database_url, tmp_path, **cap.settings) as opened:
        yield opened


async def recover(person: Person, name: str, code: str, captcha: str = "") -> tuple[int, str]:
    answer = await person.post(f"{API}/recovery", {"name": name, "code": code, "captcha": captcha})
    return answer.status_code, answer.json().get("code", "")


async def test_o7_a_recovery_code_needs_a_captcha(house: House, cap: CapStandIn, ada: Person) -> None:
    codes = await ada.recovery_codes()
    visitor = house.visitor()
    assert await recover(visitor, "ada", codes[0]) == (403, "captcha_needed")
    assert await recover(visitor, "ada", codes[0], "0:made-up") == (403, "captcha_refused")
    assert await recover(visitor, "ada", codes[0], cap.token()) == (200, "")
    assert {body["secret"] for body in cap.verified()} == {cap.settings["cap_secret"]}


async def test_o7_a_token_is_good_once(house: House, cap: CapStandIn) -> None:
    token = cap.token()
    assert (await recover(house.visitor(), "ada", WRONG, token))[0] == 401
    assert await recover(house.visitor(), "ada", WRONG, token) == (403, "captcha_refused")


async def test_o7_a_missing_captcha_is_no_failed_sign_in(house: House, cap: CapStandIn) -> None:
    visitor = house.visitor()
    for _ in range(40):
        assert (await recover(visitor, "ada", WRONG))[0] == 403
    assert (await recover(visitor, "ada", WRONG, cap.token()))[0] == 401


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((200, '{"success": false}'), (200, '{"success": "true"}'), (200, '{"success": 1}'), (200, "[]")),
        *(
            (200, "true"),
            (200, "<html>"),
            (200, "[" * 100_000),
            (200, "{}"),
            (201, '{"success": true}'),
            (204, ""),
        ),
        *((302, '{"success": true}'), (400, '{"success": true}'), (404, "{}"), (429, '{"success": true}')),
    ],
)
async def test_o7_every_answer_but_a_plain_yes_is_a_no(
    house: House, cap: CapStandIn, status: int, body: str
) -> None:
    cap.instead = (status, body)
    assert await recover(house.visitor(), "ada", WRONG, cap.token()) == (403, "captcha_refused")


@pytest.mark.parametrize("status", [500, 503])
async def test_o7_with_the_captcha_away_codes_wait_and_passkeys_do_not(
    house: House, cap: CapStandIn, ada: Person, status: int
) -> None:
    codes = await ada.recovery_codes()
    cap.instead = (status, '{"success": true}')
    assert await recover(house.visitor(), "ada", codes[0], cap.token()) == (503, "captcha_away")
    assert (await house.visitor(authenticator=ada.authenticator).sign_in()).status_code == 200
    cap.instead = None
    # The code was not spent.
    assert (await recover(house.visitor(), "ada", codes[0], cap.token()))[0] == 200


async def test_o7_nobody_waits_for_the_captcha_for_long(house: House, cap: CapStandIn) -> None:
    """It takes the connection and says nothing; the limit is three seconds."""
    cap.instead = (0, "")
    assert await recover(house.visitor(), "ada", WRONG, cap.token()) == (503, "captcha_away")


async def test_o7_a_site_key_that_the_server_does_not_know_opens_nothing(
    database_url: str, tmp_path: Path, cap: CapStandIn
) -> None:
    async with open_house(database_url, tmp_path, **{**cap.settings, "cap_site_key": "other"}) as house:
        assert await recover(house.visitor(), "ada", WRONG, cap.token()) == (403, "captcha_refused")


async def test_o1_o7_a_passkey_needs_it_after_three_failures_of_the_address(
    house: House, cap: CapStandIn, ada: Person
) -> None:
    stranger = house.visitor(authenticator=ada.authenticator)
    assert "data-captcha=" not in (await stranger.page("/auth/sign-in")).text
    for _ in range(3):
        assert (await stranger.sign_in(Claims(spoil_signature=True))).status_code == 401
    assert "data-captcha=" in (await stranger.page("/auth/sign-in")).text
    assert (await stranger.sign_in()).json()["code"] == "captcha_needed"
    answer = {**(await stranger.assertion()), "captcha": cap.token()}
    assert (await stranger.post(f"{API}/sign-in", answer)).status_code == 200
    # Another address never hears of it.
    assert (await house.visitor(authenticator=ada.authenticator).sign_in()).status_code == 200


async def test_o7_the_page_says_what_is_missing_and_keeps_what_was_typed(
    house: House, cap: CapStandIn
) -> None:
    for captcha, status in (("", 403), ("0:made-up", 403)):
        page = await house.visitor().form("/auth/recovery", name="ada", code=WRONG, captcha=captcha)
        assert page.status_code == status
        assert "rl-form-errors" in page.text
        assert 'value="ada"' in page.text
    cap.instead = (500, "")
    away = await house.visitor().form("/auth/recovery", name="ada", code=WRONG, captcha=cap.token())
    assert away.status_code == 503


async def test_o7_a23_the_policy_gives_the_widget_the_least(house: House, cap: CapStandIn) -> None:
    page = await house.visitor().page("/auth/recovery")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    nonce = re.search(r'data-captcha-nonce="([^"]+)"', page.text)
    assert nonce
    assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert policy["style-src"] == f"'self' 'nonce-{nonce[1]}'"
    assert policy["connect-src"] == f"'self' {cap.url}"
    assert policy["worker-src"] == "blob:"
    assert (policy["default-src"], policy["frame-ancestors"]) == ("'none'", "'none'")
    # No other page has any of it.
    other = (await house.visitor().page("/auth/sign-in")).headers["content-security-policy"]
    assert "wasm" not in other
    assert "blob:" not in other


async def test_o7_nothing_is_asked_where_none_is_configured(database_url: str, tmp_path: Path) -> None:
    async with open_house(database_url, tmp_path) as plain:
        assert (await recover(plain.visitor(), "ada", WRONG))[0] == 401
        assert "data-captcha=" not in (await plain.visitor().page("/auth/recovery")).text


@pytest.mark.parametrize(
    "wanted",
    [
        {"cap_url": "https://cap.example"},
        {"cap_site_key": "x", "cap_secret": "y"},
        {"cap_url": "cap.example", "cap_site_key": "x", "cap_secret": "y"},
        {"cap_url": "https://cap.example; script-src *", "cap_site_key": "x", "cap_secret": "y"},
        {"cap_url": "https://cap.example", "cap_site_key": "../x", "cap_secret": "y"},
    ],
)
def test_o7_half_a_captcha_is_refused_at_the_start(
    database_url: str, tmp_path: Path, wanted: dict[str, str]
) -> None:
    with pytest.raises(ValidationError):
        AuthSettings.model_validate(
            {"database": {"url": database_url}, "state_directory": tmp_path, **wanted}
        )
