"""What a sign-in must prove. Rows N3, N4, N7, N8, N9 and N11."""

import asyncio
from typing import Any

import pytest

from shared.testing.authenticator import Authenticator, Claims
from tests.conformance.auth.people.house import API, ORIGIN, House, Person

LIES = {
    "n3": {
        "type": Claims(type="webauthn.create"),
        "another origin": Claims(origin="https://localhost:8420"),
        "upper case origin": Claims(origin="HTTP://LOCALHOST:8420"),
        "another party": Claims(rp_id="localhost.evil.example"),
        "another challenge": Claims(challenge="AAAAAAAAAAAAAAAAAAAAAA"),
        "cross origin": Claims(cross_origin=True),
        "top origin": Claims(top_origin=ORIGIN),
        "a spoilt signature": Claims(spoil_signature=True),
        "bytes left over": Claims(trailing=b"\x00"),
        "an unknown credential": Claims(credential_id=b"nobody has this"),
    },
    "n4": {"nobody present": Claims(present=False), "nobody verified": Claims(verified=False)},
    "n7": {
        "a wrong user handle": Claims(user_handle=b"x" * 16),
        "no user handle": Claims(user_handle=b""),
    },
    "n9": {
        "eligibility changed": Claims(backup_eligible=False, backed_up=False),
        "backed up but not eligible": Claims(backup_eligible=False, backed_up=True),
    },
}


@pytest.mark.parametrize("row", LIES)
async def test_an_assertion_that_lies_is_refused(house: House, ada: Person, row: str) -> None:
    stranger = house.visitor(authenticator=ada.authenticator)
    for lie, claims in LIES[row].items():
        answer = await stranger.sign_in(claims)
        assert (answer.status_code, answer.json()["code"]) == (401, "passkey_refused"), lie
        assert not await stranger.is_in(), lie
        assert (await house.actions())[-1] == "sign_in.refused"
    assert (await stranger.sign_in()).status_code == 200


async def test_n3_a_browser_that_does_not_speak_of_frames_is_believed(ada: Person) -> None:
    assert (await ada.sign_in(Claims(cross_origin=None))).status_code == 200


async def test_n7_another_persons_handle_is_refused(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    handle = ben.authenticator.credentials[0].user_handle
    assert (await ada.sign_in(Claims(user_handle=handle))).status_code == 401


async def test_n7_a_name_that_was_typed_must_be_the_owners(house: House, ada: Person) -> None:
    assert (await ada.sign_in(name="ben")).status_code == 401
    assert (await ada.sign_in(name=" ADA ")).status_code == 200


async def test_n7_another_persons_passkey_does_not_step_up(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    begun = await ada.begin("step-up")
    begun["options"]["allowCredentials"] = []
    credential = ben.authenticator.get(begun["options"])
    answer = await ada.post(f"{API}/step-up", {"ceremony": begun["ceremony"], "credential": credential})
    assert answer.status_code == 401


async def test_n7_an_own_passkey_steps_up_also_without_a_handle(ada: Person) -> None:
    assert (await ada.step_up(Claims(user_handle=b""))).status_code == 200


async def test_n8_a_counter_that_counts_nothing_is_fine(ada: Person) -> None:
    for _ in range(3):
        assert (await ada.sign_in(Claims(counter=0))).status_code == 200


async def test_n8_a_counter_that_went_back_is_refused_and_audited(house: House) -> None:
    ada = await house.person("ada", authenticator=Authenticator(ORIGIN, counts=True))
    assert (await ada.sign_in(Claims(counter=5))).status_code == 200
    for counter in (0, 4, 5):
        assert (await ada.sign_in(Claims(counter=counter))).status_code == 401
    reasons = await house.rows("SELECT after FROM audit_events WHERE action = 'sign_in.refused'")
    assert "counter went back" in str(reasons[-1])
    assert (await ada.sign_in(Claims(counter=6))).status_code == 200


async def test_n8_one_of_many_parallel_uses_of_one_counter(house: House) -> None:
    ada = await house.person("ada", authenticator=Authenticator(ORIGIN, counts=True))
    answers = [await ada.assertion(Claims(counter=7)) for _ in range(6)]
    sent = await asyncio.gather(*(ada.post(f"{API}/sign-in", answer) for answer in answers))
    assert sorted(answer.status_code for answer in sent) == [200] + [401] * 5


async def test_n9_the_backup_state_is_updated(house: House, ada: Person) -> None:
    assert (await ada.sign_in(Claims(backed_up=False))).status_code == 200
    assert [bool(row[0]) for row in await house.rows("SELECT backed_up FROM passkeys")] == [False]


async def test_n11_options_are_the_same_for_known_and_unknown_names(house: House, ada: Person) -> None:
    stranger = house.visitor()

    def shape(told: Any) -> Any:
        if isinstance(told, dict):
            return {key: shape(value) for key, value in told.items()}
        return len(told) if isinstance(told, str | list) else told

    begun = [await stranger.begin("sign-in", {"name": name}) for name in ("ada", "nobody", "", "\x00é")]
    assert len({str(shape(each)) for each in begun}) == 1
    assert begun[0]["options"]["allowCredentials"] == []
    assert begun[0]["options"]["userVerification"] == "required"


async def test_n11_the_same_work_is_done_for_every_name(house: House, ada: Person) -> None:
    """Equal time by cause, not by the clock: no statement asks who has the name."""
    stranger = house.visitor()
    statements: list[list[str]] = []
    for name in ("ada", "nobody"):
        with house.statements() as seen:
            await stranger.begin("sign-in", {"name": name})
        statements.append(seen)
    assert statements[0] == statements[1]
