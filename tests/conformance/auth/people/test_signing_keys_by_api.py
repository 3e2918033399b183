"""Signing keys by the API: listed, rotated and retired by administrators with a fresh passkey. Row H4."""

from datetime import timedelta

import pytest

from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, House, Person

KEYS = f"{API}/signing-keys"


@pytest.fixture
async def admin(house: House) -> Person:
    return await house.person("root", Role.ADMIN)


async def stages(admin: Person) -> dict[str, str]:
    """Of the keys of one algorithm, by their ids."""
    listed = (await admin.get(KEYS)).json()
    return {key["kid"]: key["stage"] for key in listed if key["algorithm"] == "ES256"}


async def published(house: House) -> set[str]:
    return {key["kid"] for key in (await house.visitor().get("/auth/jwks.json")).json()["keys"]}


async def test_h4_keys_are_rotated_when_everybody_can_have_read_the_next(house: House, admin: Person) -> None:
    before = await stages(admin)
    young = await admin.post(f"{KEYS}/rotate")
    assert (young.status_code, young.json()["code"]) == (409, "signing_key_too_young")
    assert await stages(admin) == before
    house.clock.turn(timedelta(minutes=10))
    ruth = await house.person("ruth", Role.ADMIN)
    rotated = await ruth.post(f"{KEYS}/rotate")
    assert rotated.status_code == 200, rotated.text
    after = await stages(admin)
    assert {kid: after[kid] for kid in before} == {
        kid: {"current": "previous", "next": "current"}[stage] for kid, stage in before.items()
    }
    assert sorted(after.values()) == ["current", "next", "previous"]
    assert set(after) <= await published(house)
    assert (await ruth.post(f"{KEYS}/rotate", {"insist": True})).status_code == 200


async def test_h4_a_key_that_leaked_is_retired(house: House, admin: Person) -> None:
    [kid] = [kid for kid, stage in (await stages(admin)).items() if stage == "current"]
    assert (await admin.send("DELETE", f"{KEYS}/{kid}")).status_code == 204
    assert sorted((await stages(admin)).values()) == ["current", "next"]
    assert kid not in await published(house)
    gone = await admin.send("DELETE", f"{KEYS}/{kid}")
    assert (gone.status_code, gone.json()["code"]) == (404, "signing_key_not_found")


async def test_h4_nothing_private_is_shown(admin: Person) -> None:
    listed = (await admin.get(KEYS)).json()
    assert listed
    assert {name for key in listed for name in key} == {
        "kid",
        "algorithm",
        "stage",
        "created_at",
        "retired_at",
    }


async def test_h4_rotating_needs_a_fresh_passkey_of_an_administrator(house: House, admin: Person) -> None:
    opal = await house.person("opal", Role.OPERATOR)
    for method, path in (("GET", KEYS), ("POST", f"{KEYS}/rotate"), ("DELETE", f"{KEYS}/x")):
        assert (await opal.send(method, path, json={})).status_code == 403
        assert (await house.visitor().send(method, path, json={})).status_code == 401
    house.clock.turn(timedelta(hours=1))
    for method, path in (("POST", f"{KEYS}/rotate"), ("DELETE", f"{KEYS}/x")):
        refused = await admin.send(method, path, json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "step_up_needed")


async def test_h4_what_was_done_is_written_down(house: House, admin: Person) -> None:
    await admin.post(f"{KEYS}/rotate", {"insist": True})
    assert "signing_keys.rotated" in await house.actions()
