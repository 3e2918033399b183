"""Challenges: random, bound to a browser and a purpose, short-lived, and gone once answered. N1, N2, N12."""

import asyncio
from datetime import timedelta

import pytest

from shared.testing.authenticator import Claims, decode
from shared.testing.servers import KeyValueServer
from tests.conformance.auth.people.house import API, House, Person


@pytest.fixture(params=["sql", "valkey"])
def kv_url(request: pytest.FixtureRequest) -> str:
    """Ceremonies on each of their stores; nothing of an earlier test is left on the tier."""
    if request.param == "sql":
        return ""
    valkey: KeyValueServer = request.getfixturevalue("valkey")
    valkey.flush()
    return valkey.url


async def test_n1_challenges_are_random_and_long(ada: Person) -> None:
    first, second = await ada.begin("sign-in"), await ada.begin("sign-in")
    assert len(decode(first["options"]["challenge"])) >= 16
    assert first["options"]["challenge"] != second["options"]["challenge"]


async def test_n1_a_bad_answer_consumes_the_challenge(ada: Person) -> None:
    begun = await ada.begin("sign-in")
    bad = ada.authenticator.get(begun["options"], Claims(spoil_signature=True))
    good = ada.authenticator.get(begun["options"])
    answers = [
        await ada.post(f"{API}/sign-in", {"ceremony": begun["ceremony"], "credential": credential})
        for credential in (bad, good)
    ]
    assert [answer.status_code for answer in answers] == [401, 410]
    assert answers[1].json()["code"] == "ceremony_gone"


async def test_n1_a_challenge_lives_for_five_minutes(house: House, ada: Person) -> None:
    late, in_time = await ada.assertion(), await ada.assertion()
    house.clock.turn(timedelta(minutes=4, seconds=59))
    assert (await ada.post(f"{API}/sign-in", in_time)).status_code == 200
    house.clock.turn(timedelta(seconds=2))
    assert (await ada.post(f"{API}/sign-in", late)).status_code == 410


async def test_n1_a_challenge_is_good_for_its_purpose_only(ada: Person) -> None:
    for path, other in (("sign-in", "step-up"), ("step-up", "sign-in")):
        answer = await ada.assertion(path=path)
        assert (await ada.post(f"{API}/{other}", answer)).json()["code"] == "ceremony_gone"


async def test_n1_another_browser_cannot_answer_a_challenge(house: House, ada: Person) -> None:
    answer = await ada.assertion()
    assert (await house.visitor().post(f"{API}/sign-in", answer)).status_code == 410


@pytest.mark.parametrize(
    "handle", ["sql-00000000-0000-4000-8000-000000000000", "kv-0", "x" * 60, "", "sql-" + "-" * 36]
)
async def test_n1_an_unknown_handle_is_refused(ada: Person, handle: str) -> None:
    answer = {**await ada.assertion(), "ceremony": handle}
    assert (await ada.post(f"{API}/sign-in", answer)).status_code in {410, 422}


async def test_n2_one_session_from_twenty_parallel_answers(house: House, ada: Person) -> None:
    stranger = house.visitor(authenticator=ada.authenticator)
    answer = await stranger.assertion()
    before = await house.rows("SELECT count(*) FROM sessions")
    answers = await asyncio.gather(*(stranger.post(f"{API}/sign-in", answer) for _ in range(20)))
    assert sorted(each.status_code for each in answers) == [200] + [410] * 19
    assert (await house.rows("SELECT count(*) FROM sessions"))[0][0] == before[0][0] + 1


async def test_n2_one_account_from_ten_parallel_acceptances(house: House) -> None:
    invitation = await house.invitation()
    people = [house.visitor() for _ in range(10)]
    answers = await asyncio.gather(
        *(person.accept(invitation, f"person{number}") for number, person in enumerate(people))
    )
    assert sorted(each.status_code for each in answers) == [201] + [410] * 9
    assert len(await house.rows("SELECT id FROM accounts")) == 1


async def test_n12_a_registration_is_finished_by_whom_it_was_begun(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    begun = await ada.begin("passkeys")
    answer = {"ceremony": begun["ceremony"], "credential": ben.authenticator.create(begun["options"])}
    assert (await ben.post(f"{API}/passkeys", answer)).status_code == 410


async def test_n12_the_same_browser_with_another_person_cannot_finish_it(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    begun = await ada.begin("passkeys")
    ada.authenticator.create(begun["options"])
    shared = house.visitor(authenticator=ben.authenticator, cookies=ada.cookies)
    assert (await shared.sign_in()).status_code == 200
    credential = ada.authenticator.create(begun["options"])
    answer = {"ceremony": begun["ceremony"], "credential": credential}
    assert (await shared.post(f"{API}/passkeys", answer)).status_code == 410


async def test_n12_adding_a_passkey_needs_a_fresh_one(house: House, ada: Person) -> None:
    house.clock.turn(timedelta(minutes=6))
    refused = await ada.post(f"{API}/passkeys/options")
    assert (refused.status_code, refused.json()["code"]) == (403, "step_up_needed")
    assert (await ada.step_up()).status_code == 200
    assert (await ada.add_passkey()).status_code == 201
