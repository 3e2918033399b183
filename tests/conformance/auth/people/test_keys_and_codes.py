"""Own passkeys and recovery codes. Rows N14, O3 and O4, and what E9 builds on."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from auth_server.passkeys.service import SlowHashes
from tests.conformance.auth.people.house import API, House, Person


async def keys(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await person.get(f"{API}/passkeys")).json()
    return found


async def test_n14_a_removed_passkey_is_worthless_at_once(house: House, ada: Person) -> None:
    assert (await ada.add_passkey()).status_code == 201
    first, second = await keys(ada)
    stranger = house.visitor(authenticator=ada.authenticator)
    answer = await stranger.assertion()
    assert (await ada.send("DELETE", f"{API}/passkeys/{second['id']}")).status_code == 204
    assert (await stranger.post(f"{API}/sign-in", answer)).status_code == 401
    assert [key["id"] for key in await keys(ada)] == [first["id"]]
    assert "passkey.removed" in await house.actions()


async def test_n14_the_last_passkey_stays(ada: Person) -> None:
    only = (await keys(ada))[0]["id"]
    refused = await ada.send("DELETE", f"{API}/passkeys/{only}")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_passkey")
    assert (await ada.sign_in()).status_code == 200


async def test_n14_one_of_two_parallel_removals_leaves_a_passkey(ada: Person) -> None:
    assert (await ada.add_passkey()).status_code == 201
    answers = await asyncio.gather(
        *(ada.send("DELETE", f"{API}/passkeys/{key['id']}") for key in await keys(ada))
    )
    assert sorted(answer.status_code for answer in answers) == [204, 409]


async def test_n14_removing_needs_a_fresh_passkey_and_naming_does_not(house: House, ada: Person) -> None:
    assert (await ada.add_passkey()).status_code == 201
    house.clock.turn(timedelta(minutes=6))
    ident = (await keys(ada))[1]["id"]
    refused = await ada.send("DELETE", f"{API}/passkeys/{ident}")
    assert refused.json()["code"] == "step_up_needed"
    renamed = await ada.send("PATCH", f"{API}/passkeys/{ident}", json={"name": "drawer"})
    assert renamed.json()["name"] == "drawer"
    assert (await ada.step_up()).status_code == 200
    assert (await ada.send("DELETE", f"{API}/passkeys/{ident}")).status_code == 204


async def test_n14_nobody_touches_the_passkeys_of_others(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    assert (await ben.add_passkey()).status_code == 201
    ident = (await keys(ada))[0]["id"]
    assert (await ben.send("DELETE", f"{API}/passkeys/{ident}")).status_code == 404
    assert (await ben.send("PATCH", f"{API}/passkeys/{ident}", json={"name": "x"})).status_code == 404


async def test_a_removal_ends_the_other_sessions(house: House, ada: Person) -> None:
    assert (await ada.add_passkey()).status_code == 201
    other = house.visitor(authenticator=ada.authenticator)
    assert (await other.sign_in()).status_code == 200
    await ada.send("DELETE", f"{API}/passkeys/{(await keys(ada))[0]['id']}")
    assert await ada.is_in()
    assert not await other.is_in()


async def test_a_recovery_code_signs_in_once(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    stranger = house.visitor()
    assert (await stranger.recover(" Ada ", codes[0].upper().replace("-", " "))).status_code == 200
    assert await stranger.is_in()
    assert (await house.visitor().recover("ada", codes[0])).status_code == 401
    assert (await stranger.get(f"{API}/recovery-codes")).json() == {"left": 9}


async def test_one_session_from_ten_parallel_uses_of_a_code(house: House, ada: Person) -> None:
    code = (await ada.recovery_codes())[0]
    answers = await asyncio.gather(*(house.visitor().recover("ada", code) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 9


async def test_e9_a_used_code_ends_every_other_session(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    assert (await house.visitor().recover("ada", codes[0])).status_code == 200
    assert not await ada.is_in()


async def test_a_code_ends_somebody_elses_session_in_the_same_browser(house: House, ada: Person) -> None:
    code = (await ada.recovery_codes())[0]
    ben = await house.person("ben")
    before = house.visitor(cookies=dict(ben.cookies))
    assert (await ben.recover("ada", code)).status_code == 200
    assert not await before.is_in()


async def test_fresh_codes_make_the_earlier_ones_worthless(house: House, ada: Person) -> None:
    early, late = await ada.recovery_codes(), await ada.recovery_codes()
    assert (await house.visitor().recover("ada", early[0])).status_code == 401
    assert (await house.visitor().recover("ada", late[0])).status_code == 200


async def test_codes_are_made_with_a_fresh_passkey_only(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    stranger = house.visitor()
    await stranger.recover("ada", codes[0])
    assert (await stranger.post(f"{API}/recovery-codes")).json()["code"] == "step_up_needed"
    # But back to a passkey they do lead.
    assert (await stranger.add_passkey()).status_code == 201
    assert (await stranger.step_up()).status_code == 200


async def test_codes_are_kept_as_slow_hashes(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    kept = await house.kept("SELECT hash, selector FROM recovery_codes")
    assert kept.count("$argon2id$") == 10
    assert all(code.replace("-", "")[4:] not in kept for code in codes)


async def test_o3_unknown_people_and_wrong_codes_are_refused_alike(house: House, ada: Person) -> None:
    """Equal time by cause, not by the clock: as many statements, and one slow hash each."""
    await ada.recovery_codes()
    hashes: SlowHashes = house.app.state.slow_hashes
    told = []
    for name, code in (("ada", "2222-2222-2222-2222"), ("nobody", "2222-2222-2222-2222"), ("\x00", "?")):
        spent = hashes.checked
        with house.statements() as statements:
            answer = await house.visitor().recover(name, code)
        problem = {key: value for key, value in answer.json().items() if key != "request_id"}
        reads = sum(statement.startswith("SELECT") for statement in statements)
        # What can be nobody's name is not asked for.
        told.append((answer.status_code, problem, hashes.checked - spent, reads if name.isalpha() else 3))
    assert told[0][0] == 401
    assert told[0] == told[1] == told[2]


async def test_o4_slow_hashes_leave_the_loop_to_others(house: House, ada: Person) -> None:
    """While every thread that hashes is held, requests of others are answered."""
    await ada.recovery_codes()
    hashes: SlowHashes = house.app.state.slow_hashes
    gate, genuine = threading.Event(), hashes.hasher

    class Held:
        def verify(self, *given: Any) -> bool:
            assert gate.wait(20)
            return bool(genuine.verify(*given))

        def hash(self, text: str) -> str:
            return genuine.hash(text)

    hashes.hasher = Held()  # type: ignore[assignment]
    attempts = [
        asyncio.create_task(house.visitor().recover("nobody" + str(number), "2222-2222-2222-2222"))
        for number in range(10)
    ]
    answers = [await house.visitor().get("/auth/livez") for _ in range(5)]
    assert not any(attempt.done() for attempt in attempts)
    gate.set()
    assert [answer.status_code for answer in answers] == [200] * 5
    assert {answer.status_code for answer in await asyncio.gather(*attempts)} == {401}


async def test_o4_a_queue_for_hashing_has_an_end(house: House) -> None:
    answers = await asyncio.gather(
        *(
            house.visitor(address=f"2001:db8:{number:x}::1").recover(f"n{number}", "2" * 16)
            for number in range(90)
        )
    )
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {401, 503}
    assert statuses.count(401) >= 64
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)


@pytest.mark.parametrize("length", [65, 1_000_000])
async def test_o4_a_huge_code_is_refused_before_any_hashing(house: House, length: int) -> None:
    hashes: SlowHashes = house.app.state.slow_hashes
    spent = hashes.checked
    assert (await house.visitor().recover("ada", "2" * length)).status_code == 422
    assert hashes.checked == spent
