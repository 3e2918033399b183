"""One-time links, portal sessions, and the way out."""

from datetime import timedelta
from urllib.parse import urlsplit

import httpx2

from control_server.ways_in import make_session_link
from tests.integration.control.enrolment.office import Office

COOKIE = "__Host-rl_control"
HTML = {"Accept": "text/html"}


async def follow(office: Office) -> httpx2.Response:
    link = await make_session_link(office.resources)
    return await office.outside.get(urlsplit(link).path, headers=HTML)


async def test_a_link_signs_in_once(office: Office) -> None:
    path = urlsplit(await make_session_link(office.resources)).path
    first = await office.outside.get(path, headers=HTML)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    for attribute in (f"{COOKIE}=", "HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert attribute in cookie
    second = await office.outside.get(path, headers=HTML)
    assert second.status_code == 410
    assert COOKIE not in second.headers.get("set-cookie", "")
    assert (await office.actions())[-3:] == ["session_link.used", "session.began", "session_link.refused"]


async def test_a_link_lives_for_minutes(office: Office) -> None:
    path = urlsplit(await make_session_link(office.resources)).path
    office.clock.turn(timedelta(minutes=11))
    assert (await office.outside.get(path, headers=HTML)).status_code == 410


async def test_looking_ahead_does_not_spend_the_link(office: Office) -> None:
    path = urlsplit(await make_session_link(office.resources)).path
    await office.outside.head(path)
    assert (await office.outside.get(path, headers=HTML)).status_code == 303


async def test_the_session_opens_the_api_and_ends_when_unused(office: Office) -> None:
    cookie = (await follow(office)).cookies[COOKIE]
    headers = {"Cookie": f"{COOKIE}={cookie}"}
    assert (await office.outside.get("/api/v1/nodes", headers=headers)).status_code == 200
    office.clock.turn(timedelta(hours=11))
    assert (await office.outside.get("/api/v1/nodes", headers=headers)).status_code == 200
    office.clock.turn(timedelta(hours=11))
    assert (await office.outside.get("/api/v1/nodes", headers=headers)).status_code == 200
    office.clock.turn(timedelta(hours=13))
    assert (await office.outside.get("/api/v1/nodes", headers=headers)).status_code == 401


async def test_signing_out_ends_the_session_itself(office: Office) -> None:
    cookie = (await follow(office)).cookies[COOKIE]
    token = "t" * 43
    headers = {"Cookie": f"{COOKIE}={cookie}; __Host-rl_csrf={token}", "X-CSRF-Token": token}
    assert (await office.outside.post("/sign-out", headers=headers)).status_code == 303
    assert (await office.outside.get("/api/v1/nodes", headers=headers)).status_code == 401


async def test_a_write_by_cookie_needs_the_form_token(office: Office) -> None:
    cookie = (await follow(office)).cookies[COOKIE]
    answer = await office.outside.post(
        "/api/v1/enrolment-tokens", json={}, headers={"Cookie": f"{COOKIE}={cookie}"}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
