"""What a registration must prove. Rows N3 to N6, N9 and N10."""

import asyncio

import pytest

from shared.testing.authenticator import EDDSA, RS256, Authenticator, Claims, decode
from tests.conformance.auth.people.house import ORIGIN, House, Person

REFUSED = "passkey_registration_refused"
LIES = {
    "n3": {
        "type": Claims(type="webauthn.get"),
        "another origin": Claims(origin="http://localhost:8421"),
        "a longer origin": Claims(origin=ORIGIN + "/"),
        "a subdomain": Claims(origin="http://evil.localhost:8420"),
        "another party": Claims(rp_id="evil.example"),
        "another challenge": Claims(challenge="AAAAAAAAAAAAAAAAAAAAAA"),
        "cross origin": Claims(cross_origin=True),
        "top origin": Claims(top_origin="https://evil.example"),
        "an unknown attestation": Claims(attestation="tpm"),
        "bytes left over": Claims(trailing=b"\x00"),
    },
    "n4": {"nobody present": Claims(present=False), "nobody verified": Claims(verified=False)},
    "n5": {"an algorithm that was not offered": Claims(algorithm=-36)},
    "n6": {"a credential id of 1024 bytes": Claims(credential_id=b"x" * 1024)},
    "n9": {"backed up but not eligible": Claims(backup_eligible=False, backed_up=True)},
}


@pytest.mark.parametrize("row", LIES)
async def test_a_registration_that_lies_is_refused(ada: Person, house: House, row: str) -> None:
    for lie, claims in LIES[row].items():
        answer = await ada.add_passkey(claims)
        assert answer.status_code == 422, (lie, answer.text)
        assert answer.json()["code"] in {REFUSED, "invalid_input"}, lie
    assert len(await house.rows("SELECT id FROM passkeys")) == 1


async def test_n4_a_first_passkey_that_lies_makes_no_account(house: House) -> None:
    invitation = await house.invitation()
    person = house.visitor()
    assert (await person.accept(invitation, "ada", Claims(verified=False))).json()["code"] == REFUSED
    assert await house.rows("SELECT id FROM accounts") == []
    assert (await house.actions())[-1] == "passkey.registration_refused"
    # The lie was not the end of the invitation.
    assert (await person.accept(invitation, "ada")).status_code == 201


async def test_n5_every_algorithm_that_is_offered_works(house: House) -> None:
    for name, algorithm in {"ada": EDDSA, "ben": RS256}.items():
        person = await house.person(name, authenticator=Authenticator(ORIGIN, algorithm))
        assert (await person.sign_in()).status_code == 200


async def test_n5_the_offer_names_three_algorithms(ada: Person) -> None:
    offered = (await ada.begin("passkeys"))["options"]["pubKeyCredParams"]
    assert [item["alg"] for item in offered] == [-8, -7, -257]


async def test_n6_the_longest_credential_id_is_taken(ada: Person) -> None:
    assert (await ada.add_passkey(Claims(credential_id=b"x" * 1023))).status_code == 201


async def test_n6_a_credential_id_of_anybody_else_is_refused(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    taken = Claims(credential_id=ada.authenticator.credentials[0].id)
    refused = await ben.add_passkey(taken)
    assert (refused.status_code, refused.json()["code"]) == (409, "passkey_known")
    assert (await ada.sign_in()).status_code == 200


async def test_n6_a_known_credential_id_makes_no_account(house: House, ada: Person) -> None:
    invitation = await house.invitation()
    taken = Claims(credential_id=ada.authenticator.credentials[0].id)
    assert (await house.visitor().accept(invitation, "ben", taken)).status_code == 409
    assert len(await house.rows("SELECT id FROM accounts")) == 1
    assert (await house.visitor().accept(invitation, "ben")).status_code == 201


async def test_n6_one_of_ten_parallel_registrations_of_one_id(house: House, ada: Person) -> None:
    people = [ada, *[await house.person(f"person{number}") for number in range(3)]]
    same = Claims(credential_id=b"the same for all")
    answers = await asyncio.gather(*(person.add_passkey(same) for person in people))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


async def test_n9_eligibility_and_state_are_kept(house: House) -> None:
    await house.person("ada")
    kept = await house.rows("SELECT backup_eligible, backed_up FROM passkeys")
    assert [tuple(map(bool, row)) for row in kept] == [(True, True)]


async def test_n10_the_user_id_is_random_and_stays(house: House, ada: Person) -> None:
    first = (await ada.begin("passkeys"))["options"]
    second = (await ada.begin("passkeys"))["options"]
    assert first["user"] == second["user"]
    assert 16 <= len(decode(first["user"]["id"])) <= 64
    assert b"ada" not in decode(first["user"]["id"])


async def test_n10_what_is_registered_is_excluded(ada: Person) -> None:
    assert (await ada.add_passkey()).status_code == 201
    excluded = (await ada.begin("passkeys"))["options"]["excludeCredentials"]
    assert {decode(item["id"]) for item in excluded} == {known.id for known in ada.authenticator.credentials}


async def test_the_options_ask_for_a_verified_person_and_a_kept_credential(ada: Person) -> None:
    options = (await ada.begin("passkeys"))["options"]
    wanted = options["authenticatorSelection"]
    assert (wanted["userVerification"], wanted["residentKey"]) == ("required", "required")
    assert (options["rp"]["id"], options["attestation"]) == ("localhost", "none")


async def test_an_account_holds_twenty_passkeys(ada: Person) -> None:
    answers = [await ada.add_passkey() for _ in range(20)]
    assert [answer.status_code for answer in answers] == [201] * 19 + [409]
    assert answers[-1].json()["code"] == "too_many_passkeys"
