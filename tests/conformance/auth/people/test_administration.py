"""Accounts, roles, invitations and sessions of others: administrators only, and never without one."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from auth_server.commands import has_administrator
from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, House, Person


@pytest.fixture
async def admin(house: House) -> Person:
    return await house.person("root", Role.ADMIN)


async def account_of(admin: Person, name: str) -> str:
    listed = (await admin.get(f"{API}/accounts")).json()
    return next(str(row["id"]) for row in listed if row["name"] == name)


async def change(admin: Person, name: str, **wanted: Any) -> int:
    path = f"{API}/accounts/{await account_of(admin, name)}"
    return (await admin.send("PATCH", path, json=wanted)).status_code


async def test_only_administrators_administer(house: House, admin: Person) -> None:
    some = uuid4()
    routes = [
        ("GET", f"{API}/accounts"),
        ("GET", f"{API}/accounts/{some}"),
        ("PATCH", f"{API}/accounts/{some}"),
        ("GET", f"{API}/accounts/{some}/sessions"),
        ("DELETE", f"{API}/accounts/{some}/sessions"),
        ("DELETE", f"{API}/accounts/{some}/sessions/{some}"),
        ("GET", f"{API}/invitations"),
        ("POST", f"{API}/invitations"),
        ("DELETE", f"{API}/invitations/x"),
        ("GET", f"{API}/audit"),
        ("GET", "/auth/accounts"),
        ("POST", "/auth/accounts/invitations"),
        ("POST", f"/auth/accounts/{some}"),
        ("POST", f"/auth/accounts/{some}/sessions/end"),
    ]
    people = {401: house.visitor(), 403: await house.person("opal", Role.OPERATOR)}
    viewer = await house.person("vera", Role.VIEWER)
    for method, path in routes:
        for status, person in people.items():
            assert (await person.send(method, path, json={"role": "admin"})).status_code == status, path
        assert (await viewer.send(method, path, json={"role": "admin"})).status_code == 403, path


async def test_an_invitation_is_shown_once_and_withdrawn(house: House, admin: Person) -> None:
    made = (await admin.post(f"{API}/invitations", {"role": "operator", "note": "night shift"})).json()
    listed = (await admin.get(f"{API}/invitations")).json()
    assert [row["note"] for row in listed] == ["night shift"]
    assert "link" not in listed[0]
    assert made["link"].startswith("http://localhost:8420/auth/invitations/rli_")
    assert (await admin.send("DELETE", f"{API}/invitations/{made['id']}")).status_code == 204
    assert (await admin.send("DELETE", f"{API}/invitations/{made['id']}")).status_code == 404
    late = await house.visitor().post(
        f"{API}/invitations/accept/options",
        {"invitation": made["link"].rsplit("/", 1)[1], "name": "late", "display_name": "Late"},
    )
    assert (late.status_code, late.json()["code"]) == (410, "invitation_refused")


async def test_an_invitation_lives_for_a_day(house: House) -> None:
    link = await house.invitation()
    house.clock.turn(timedelta(hours=25))
    answer = await house.visitor().page(f"/auth/invitations/{link.rsplit('/', 1)[1]}")
    assert answer.status_code == 410


async def test_an_invitation_withdrawn_in_mid_ceremony_makes_nobody(house: House, admin: Person) -> None:
    made = (await admin.post(f"{API}/invitations", {"role": "viewer"})).json()
    secret, person = made["link"].rsplit("/", 1)[1], house.visitor()
    begun = await person.begin(
        "invitations/accept", {"invitation": secret, "name": "late", "display_name": "Late"}
    )
    await admin.send("DELETE", f"{API}/invitations/{made['id']}")
    answer = await person.post(
        f"{API}/invitations/accept",
        {
            "ceremony": begun["ceremony"],
            "invitation": secret,
            "credential": person.authenticator.create(begun["options"]),
        },
    )
    assert answer.status_code == 410
    assert (await house.actions())[-1] == "invitation.refused"


async def test_names_are_unique_whatever_their_case(house: House, admin: Person) -> None:
    await house.person("Ada")
    secret = (await house.invitation()).rsplit("/", 1)[1]
    wanted = {"invitation": secret, "name": "ADA", "display_name": "Other"}
    refused = await house.visitor().post(f"{API}/invitations/accept/options", wanted)
    assert (refused.status_code, refused.json()["code"]) == (409, "account_name_taken")


async def test_one_of_many_parallel_people_gets_the_name(house: House) -> None:
    links = [await house.invitation() for _ in range(4)]
    people = [house.visitor() for _ in links]
    begun = []
    for link, person in zip(links, people, strict=True):
        secret = link.rsplit("/", 1)[1]
        wanted = {"invitation": secret, "name": "same", "display_name": "Same"}
        options = await person.begin("invitations/accept", wanted)
        credential = person.authenticator.create(options["options"])
        begun.append({"ceremony": options["ceremony"], "invitation": secret, "credential": credential})
    answers = await asyncio.gather(
        *(person.post(f"{API}/invitations/accept", body) for person, body in zip(people, begun, strict=True))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


async def test_the_role_is_what_it_is_now(house: House, admin: Person) -> None:
    ada = await house.person("ada")
    assert (await ada.get(f"{API}/accounts")).status_code == 403
    assert await change(admin, "ada", role="admin") == 200
    assert (await ada.get(f"{API}/accounts")).status_code == 200


async def test_the_last_administrator_stays(house: House, admin: Person) -> None:
    assert await change(admin, "root", role="viewer") == 409
    assert await change(admin, "root", disabled=True) == 409
    await house.person("second", Role.ADMIN)
    assert await change(admin, "root", role="viewer") == 200
    assert await has_administrator(house.resources)


async def test_a_refused_change_shows_the_account_as_it_is(house: House, admin: Person) -> None:
    path = f"/auth/accounts/{await account_of(admin, 'root')}"
    page = await admin.form(path, role="viewer")
    assert page.status_code == 409
    assert "Nobody else is an administrator." in page.text
    assert f'action="{path}/sessions/end"' in page.text


async def test_two_administrators_cannot_remove_each_other_at_once(house: House, admin: Person) -> None:
    second = await house.person("second", Role.ADMIN)
    both = {"root": await account_of(admin, "root"), "second": await account_of(admin, "second")}
    answers = await asyncio.gather(
        admin.send("PATCH", f"{API}/accounts/{both['second']}", json={"disabled": True}),
        second.send("PATCH", f"{API}/accounts/{both['root']}", json={"role": "viewer"}),
    )
    assert 200 in {answer.status_code for answer in answers}
    assert await has_administrator(house.resources)


async def test_sensitive_acts_want_a_fresh_passkey(house: House, admin: Person) -> None:
    await house.person("ada")
    house.clock.turn(timedelta(minutes=6))
    assert await change(admin, "ada", role="operator") == 403
    assert (await admin.post(f"{API}/invitations", {"role": "admin"})).json()["code"] == "step_up_needed"
    assert (await admin.step_up()).status_code == 200
    assert await change(admin, "ada", role="operator") == 200


async def test_an_administrator_ends_the_sessions_of_others(house: House, admin: Person) -> None:
    ada = await house.person("ada")
    path = f"{API}/accounts/{await account_of(admin, 'ada')}/sessions"
    ident = (await admin.get(path)).json()[0]["id"]
    assert (await admin.send("DELETE", f"{path}/{uuid4()}")).status_code == 404
    assert (await admin.send("DELETE", f"{path}/{ident}")).status_code == 204
    assert not await ada.is_in()
    await ada.sign_in()
    assert (await admin.send("DELETE", path)).status_code == 204
    assert not await ada.is_in()


async def test_o9_the_trail_names_actor_act_and_address_and_no_secret(house: House, admin: Person) -> None:
    ada = await house.person("ada")
    codes = await ada.recovery_codes()
    await house.visitor().recover("ada", codes[0])
    await change(admin, "ada", role="operator")
    page = (await admin.get(f"{API}/audit?limit=500")).json()["items"]
    by_action = {event["action"]: event for event in page}
    assert by_action["account.role_changed"]["actor_name"] == "root"
    assert by_action["account.role_changed"]["from_address"] == admin.address
    assert by_action["account.role_changed"]["before"] == {"role": "viewer"}
    assert {"account.created", "passkey.added", "session.began", "recovery_code.used"} <= set(by_action)
    secrets = [*codes, *(person.cookies["__Host-rl_auth"] for person in (admin, ada))]
    assert not [secret for secret in secrets if secret in str(page)]


async def test_the_trail_is_only_ever_added_to(house: House, admin: Person) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError

    for statement in ("UPDATE audit_events SET action = 'x'", "DELETE FROM audit_events"):
        with pytest.raises(DBAPIError, match="append-only"):
            async with house.resources.database.transaction() as session:
                await session.execute(text(statement))
