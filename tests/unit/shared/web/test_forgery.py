"""Cross-site request forgery."""

import httpx2
import pytest

from shared.web.csrf import COOKIE as CSRF_COOKIE
from tests.unit.shared.web.service import COOKIE

TOKEN = "t" * 43
SIGNED_IN = f"{COOKIE}=operator; {CSRF_COOKIE}={TOKEN}"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def post(client: httpx2.AsyncClient, body: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post("/form", content=body, headers={**FORM, **named})


async def test_a_form_with_the_token_passes(client: httpx2.AsyncClient) -> None:
    answer = await post(client, f"note=hi&csrf_token={TOKEN}", Cookie=SIGNED_IN)
    assert (answer.status_code, answer.json()) == (200, "hi")


async def test_the_token_may_come_in_a_header(client: httpx2.AsyncClient) -> None:
    assert (await post(client, "note=hi", Cookie=SIGNED_IN, X_CSRF_Token=TOKEN)).status_code == 200


@pytest.mark.parametrize("sent", ["", "&csrf_token=", f"&csrf_token={'u' * 43}"])
async def test_a_form_without_the_right_token_is_refused(client: httpx2.AsyncClient, sent: str) -> None:
    answer = await post(client, f"note=hi{sent}", Cookie=SIGNED_IN)
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_site_is_refused_even_with_the_token(client: httpx2.AsyncClient, site: str) -> None:
    answer = await post(client, f"note=hi&csrf_token={TOKEN}", Cookie=SIGNED_IN, Sec_Fetch_Site=site)
    assert answer.status_code == 403


async def test_a_session_without_a_token_cookie_is_refused(client: httpx2.AsyncClient) -> None:
    assert (await post(client, "note=hi&csrf_token=", Cookie=f"{COOKIE}=operator")).status_code == 403


async def test_a_bearer_token_needs_no_form_token(client: httpx2.AsyncClient) -> None:
    answer = await post(client, "note=hi", Cookie=SIGNED_IN, Authorization="Bearer operator")
    assert answer.status_code == 200


async def test_without_our_cookies_there_is_nothing_to_forge(client: httpx2.AsyncClient) -> None:
    assert (await post(client, "note=hi", Cookie="other=1", Sec_Fetch_Site="cross-site")).status_code == 200


async def test_a_sign_in_form_is_bound_also_without_a_session(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/sign-in-form")).status_code == 403
    good = {"Cookie": f"{CSRF_COOKIE}={TOKEN}", "X-CSRF-Token": TOKEN}
    assert (await client.post("/sign-in-form", headers=good)).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:8420", 200),
        ("null", 200),
        ("http://localhost:9999", 403),
        ("https://evil.example", 403),
    ],
)
async def test_the_origin_counts_where_a_browser_names_it(
    client: httpx2.AsyncClient, origin: str, status: int
) -> None:
    answer = await post(client, f"note=hi&csrf_token={TOKEN}", Cookie=SIGNED_IN, Origin=origin)
    assert answer.status_code == status
