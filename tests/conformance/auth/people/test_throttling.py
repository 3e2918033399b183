"""Failed attempts are limited by account and by address. Rows O1 and O2, as far as one process counts."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from shared.testing.authenticator import Claims
from tests.conformance.auth.people.house import API, House, Person

#: What one process counts does not depend on the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
WRONG = "2222-2222-2222-2222"


async def test_o2_an_account_takes_ten_wrong_codes(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    answers = [await house.visitor().recover("ada", WRONG) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429]
    assert answers[-1].json()["code"] == "sign_in_throttled"
    assert answers[-1].headers["retry-after"] == "900"
    assert (await house.visitor().recover("ada", codes[0])).status_code == 429
    # The window began with the first failure and is not made longer by later ones.
    house.clock.turn(timedelta(seconds=901))
    assert (await house.visitor().recover("ada", codes[0])).status_code == 200


async def test_o1_the_lock_is_no_lever_against_its_victim(house: House, ada: Person) -> None:
    for _ in range(12):
        await house.visitor().recover("ada", WRONG)
    assert (await house.visitor(authenticator=ada.authenticator).sign_in()).status_code == 200


async def test_o2_unknown_names_are_limited_alike(house: House) -> None:
    answers = [await house.visitor().recover("nobody", WRONG) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429]


async def test_o2_parallel_attempts_pass_no_limit(house: House) -> None:
    answers = await asyncio.gather(*(house.visitor().recover("nobody", WRONG) for _ in range(30)))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(401) == 10
    assert set(statuses) == {401, 429}


async def test_o2_an_address_takes_thirty_failures_of_any_kind(house: House, ada: Person) -> None:
    stranger = house.visitor(authenticator=ada.authenticator)
    for number in range(15):
        assert (await stranger.recover(f"name{number}", WRONG)).status_code == 401
        assert (await stranger.sign_in(Claims(spoil_signature=True))).status_code == 401
    assert (await stranger.sign_in()).status_code == 429
    assert (await house.visitor(authenticator=ada.authenticator).sign_in()).status_code == 200


async def test_o1_a_network_of_ipv6_is_one_address(house: House, ada: Person) -> None:
    for number in range(30):
        person = house.visitor(address=f"2001:db8:0:1::{number:x}")
        assert (await person.recover(f"name{number}", WRONG)).status_code == 401
    here = house.visitor(address="2001:db8:0:1:ffff::1", authenticator=ada.authenticator)
    assert (await here.sign_in()).status_code == 429
    beside = house.visitor(address="2001:db8:0:2::1", authenticator=ada.authenticator)
    assert (await beside.sign_in()).status_code == 200


async def test_o1_a_trusted_proxy_says_who_asks(house: House) -> None:
    """The last address that no trusted proxy has is believed, whatever the client wrote before it."""
    app: Any = house.app  # uvicorn and Starlette write the type of an application differently
    behind = ProxyHeadersMiddleware(app, trusted_hosts="10.0.0.0/8")
    proxy = house.visitor(app=behind, address="10.0.0.1")
    for number in range(30):
        told = {"X-Forwarded-For": f"203.0.113.{number}, 198.51.100.7, 10.0.0.2"}
        attempt = {"name": f"name{number}", "code": WRONG}
        assert (await proxy.post(f"{API}/recovery", attempt, headers=told)).status_code == 401
    told = {"X-Forwarded-For": "203.0.113.99, 198.51.100.7"}
    assert (await proxy.post(f"{API}/recovery", attempt, headers=told)).status_code == 429
    told = {"X-Forwarded-For": "198.51.100.7, 198.51.100.8"}
    assert (await proxy.post(f"{API}/recovery", attempt, headers=told)).status_code == 401
    # Who is no trusted proxy speaks for itself alone.
    stranger = house.visitor(app=behind)
    told = {"X-Forwarded-For": "198.51.100.7"}
    assert (await stranger.post(f"{API}/recovery", attempt, headers=told)).status_code == 401


async def test_o1_a_header_of_the_client_changes_no_address(house: House, ada: Person) -> None:
    stranger = house.visitor()
    for number in range(30):
        forged = {"X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        await stranger.post(f"{API}/recovery", {"name": f"name{number}", "code": WRONG}, headers=forged)
    assert (await stranger.recover("other", WRONG)).status_code == 429
