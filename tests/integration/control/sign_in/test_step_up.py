"""A recent proof before what changes who may do what."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.integration.control.sign_in.house import CSRF, House, Surfer

pytestmark = pytest.mark.asyncio(loop_scope="package")

LATER = timedelta(minutes=11)


async def make_token(surfer: Surfer) -> int:
    """The form of the enrolment page."""
    return (await surfer.post("/enrolment/tokens", node_id="", expires_in="3600")).status_code


async def test_a_recent_sign_in_is_proof_enough_and_an_old_one_is_not(any_house: House) -> None:
    surfer = await any_house.signed_in()
    assert await make_token(surfer) == 201
    any_house.clock.turn(LATER)
    answer = await surfer.post("/enrolment/tokens", node_id="", expires_in="3600")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/step-up?next=%2Fenrolment"
    assert (await surfer.get("/enrolment")).status_code == 200, "reading needs no new proof"
    assert (await any_house.actions())[-1] == "enrolment_token.created", "and nothing after it"


async def test_programs_get_a_code(house: House) -> None:
    surfer = await house.signed_in()
    house.clock.turn(LATER)
    answer = await house.http.post(
        f"{house.origin}/api/v1/enrolment-tokens",
        json={},
        headers={
            "Cookie": "; ".join(f"{name}={value}" for name, value in surfer.cookies.items()),
            "X-CSRF-Token": CSRF,
        },
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "step_up_required")


async def test_the_host_s_link_counts_for_its_first_minutes(house: House) -> None:
    surfer = await house.by_link()
    assert await make_token(surfer) == 201
    house.clock.turn(LATER)
    assert await make_token(surfer) == 303
    page = await surfer.get("/step-up?next=/enrolment")
    assert "routeloom control session-link" in page.text
    assert (await surfer.post("/step-up", next="/enrolment")).status_code == 403


async def test_it_asks_for_a_new_sign_in_and_comes_back(any_house: House) -> None:
    account = await any_house.account()
    surfer = await any_house.known_there(account)
    await surfer.sign_in()
    before = surfer.cookies["__Host-rl_control"]
    any_house.clock.turn(LATER)
    sent = await surfer.post("/step-up", next="/enrolment")
    asked = dict(parse_qsl(urlsplit(sent.headers["location"]).query))
    assert (asked["prompt"], asked["max_age"]) == ("login", "0")
    anew = await surfer.get(sent.headers["location"])
    there = urlsplit(anew.headers["location"])
    assert there.path == "/auth/sign-in", "the session there is not proof enough"
    await any_house.prove(surfer, account)
    back = await surfer.get(dict(parse_qsl(there.query))["next"])
    answer = await surfer.get(back.headers["location"])
    assert (answer.status_code, answer.headers["location"]) == (303, "/enrolment")
    assert surfer.cookies["__Host-rl_control"] != before, "a copied cookie dies at the step"
    assert await make_token(surfer) == 201
    assert "session.stepped_up" in await any_house.actions()
    surfer.cookies["__Host-rl_control"] = before
    assert not await any_house.is_in(surfer)


async def test_somebody_else_s_proof_is_none(house: House) -> None:
    surfer = await house.signed_in()
    house.clock.turn(LATER)
    sent = await surfer.post("/step-up", next="/enrolment")
    await house.prove(surfer, await house.account())
    back = await surfer.get(sent.headers["location"])
    if urlsplit(back.headers["location"]).path == "/auth/sign-in":
        back = await surfer.get(dict(parse_qsl(urlsplit(back.headers["location"]).query))["next"])
    assert (await surfer.get(back.headers["location"])).status_code == 403
    assert await make_token(surfer) == 303


async def test_an_old_sign_in_is_none(house: House) -> None:
    """Whatever the sign-in service makes of the wish for a new one."""
    surfer = await house.signed_in()
    house.clock.turn(LATER)
    sent = await surfer.post("/step-up", next="/enrolment")
    address = sent.headers["location"].replace("prompt=login", "prompt=").replace("max_age=0", "max_age=")
    back = await surfer.get(address)
    answer = await surfer.get(back.headers["location"])
    assert answer.status_code == 403
    assert await make_token(surfer) == 303


async def test_a_stranger_is_sent_to_sign_in(house: House) -> None:
    assert (await house.surfer().get("/step-up")).headers["location"].startswith("/sign-in")
