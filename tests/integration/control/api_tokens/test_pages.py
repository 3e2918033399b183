"""The page of access tokens, as a person in a browser uses it."""

import re

import httpx2

from tests.integration.control.api_tokens.test_tokens import made
from tests.integration.control.conftest import CSRF, signed_in
from tests.integration.control.enrolment.office import Office

HTML = {"Accept": "text/html"}
SECRET = re.compile(r"rlp_[0-9a-z]{12}_[\w-]{43}")


async def sent(office: Office, path: str, **fields: str | list[str]) -> httpx2.Response:
    headers = {**await signed_in(office), **HTML}
    return await office.outside.post(path, data={"csrf_token": CSRF, **fields}, headers=headers)


async def test_the_secret_is_on_the_page_that_follows_the_form_and_on_no_other(lite: Office) -> None:
    answer = await sent(
        lite, "/access/tokens", name="backup", scopes=["fleet:read", "probes:run"], expires_in="86400"
    )
    assert answer.status_code == 201
    found = SECRET.search(answer.text)
    assert found is not None
    assert answer.headers["cache-control"] == "no-store"
    bearer = {"Authorization": f"Bearer {found[0]}"}
    assert (await lite.outside.get("/api/v1/nodes", headers=bearer)).status_code == 200
    page = await lite.outside.get("/access/tokens", headers={**await signed_in(lite), **HTML})
    assert "backup" in page.text
    assert SECRET.search(page.text) is None


async def test_a_form_that_is_refused_keeps_what_was_typed(lite: Office) -> None:
    answer = await sent(lite, "/access/tokens", name="backup", expires_in="86400")
    assert answer.status_code == 422
    assert 'value="backup"' in answer.text
    assert "rl-help-error" in answer.text
    assert (await lite.outside.get("/api/v1/tokens", headers=await signed_in(lite))).json() == []


async def test_rotating_shows_the_fresh_secret_and_revoking_ends_it(lite: Office) -> None:
    token = await made(lite)
    rotated = await sent(lite, f"/access/tokens/{token['token_id']}/rotate")
    found = SECRET.search(rotated.text)
    assert rotated.status_code == 201
    assert found is not None
    bearer = {"Authorization": f"Bearer {found[0]}"}
    assert (await lite.outside.get("/api/v1/nodes", headers=bearer)).status_code == 200
    revoked = await sent(lite, f"/access/tokens/{found[0].split('_')[1]}/revoke")
    assert (revoked.status_code, revoked.headers["location"]) == (303, "/access/tokens")
    assert (await lite.outside.get("/api/v1/nodes", headers=bearer)).status_code == 401


async def test_an_administrator_sees_the_tokens_of_others(lite: Office) -> None:
    page = await lite.outside.get("/access/tokens", headers={**await signed_in(lite), **HTML})
    assert "admin-token file" in page.text
