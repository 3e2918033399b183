"""Sessions: their cookie, their end, and who is told. Rows O5, O6, C9 and E9."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.schemas import AccountChanged
from auth_server.sessions.schemas import SessionEnded
from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, CSRF, HTML, SESSION, House, Person


@pytest.fixture
def told(house: House) -> list[tuple[str, Any]]:
    """What listeners hear."""
    heard: list[tuple[str, Any]] = []

    async def ended(session: AsyncSession, event: SessionEnded) -> None:
        heard.append((event.reason, event.session_id))

    async def changed(session: AsyncSession, event: AccountChanged) -> None:
        heard.append((f"account {event.change}", event.account_id))

    house.app.state.after_session_end.append(ended)
    house.app.state.after_account_change.append(changed)
    return heard


def reasons(told: list[tuple[str, Any]]) -> list[str]:
    return [what for what, _ in told]


async def current(person: Person) -> str:
    listed = (await person.get(f"{API}/sessions")).json()
    return next(str(row["id"]) for row in listed if row["current"])


async def test_o5_the_cookie_is_bound_to_the_host_and_hidden(ada: Person) -> None:
    answer = await ada.sign_in()
    cookie = next(head for head in answer.headers.get_list("set-cookie") if head.startswith(SESSION))
    for attribute in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert attribute in cookie
    assert "domain" not in cookie.lower()


async def test_o5_the_secret_is_new_at_sign_in_and_step_up(house: House, ada: Person) -> None:
    seen = [ada.cookies[SESSION]]
    ident = await current(ada)
    for act in (ada.sign_in, ada.step_up):
        old = house.visitor(cookies=dict(ada.cookies))
        assert (await act()).status_code == 200
        seen.append(ada.cookies[SESSION])
        assert not await old.is_in()
    assert len(set(seen)) == 3
    # To the person it stays the same session.
    assert await current(ada) == ident


async def test_o5_a_planted_cookie_is_not_adopted(house: House, ada: Person) -> None:
    planted = house.visitor(authenticator=ada.authenticator)
    planted.cookies[SESSION] = "rls_222222222222_" + "A" * 43
    assert (await planted.sign_in()).status_code == 200
    assert planted.cookies[SESSION] != "rls_222222222222_" + "A" * 43


async def test_o5_only_a_hash_is_kept(house: House, ada: Person) -> None:
    kept = await house.kept("SELECT * FROM sessions")
    assert ada.cookies[SESSION] not in kept


ELSEWHERE = [
    "//evil.example",
    "/\\evil.example",
    "/%09/evil.example",
    "/%5cevil.example",
    "/%2f/evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "https://evil.example/",
    "http:evil.example",
    "///evil.example",
    "/.//evil.example",
    "\\\\evil.example",
    " //evil.example",
    "evil",
    "/é",
    "/a\r\nSet-Cookie: a=b",
]


async def test_o6_only_a_path_of_this_site_is_gone_on_to(ada: Person) -> None:
    for target in ELSEWHERE:
        answer = await ada.post(f"{API}/sign-in", {**await ada.assertion(), "next": target})
        assert answer.json()["next"] == "/auth/account", target
        shown = await ada.send("GET", "/auth/sign-in", params={"next": target}, headers=HTML)
        assert (shown.status_code, shown.headers["location"]) == (303, "/auth/account"), target


async def test_o6_a_request_for_authorization_is_gone_on_to(ada: Person) -> None:
    target = "/auth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&state=%26%2B"
    answer = await ada.post(f"{API}/sign-in", {**await ada.assertion(), "next": target})
    assert answer.json()["next"] == target


async def test_a_session_unused_for_a_week_is_over(house: House, ada: Person) -> None:
    house.clock.turn(timedelta(days=6))
    assert await ada.is_in()
    house.clock.turn(timedelta(days=6))
    assert await ada.is_in()
    house.clock.turn(timedelta(days=8))
    assert not await ada.is_in()


async def test_a_session_is_over_thirty_days_after_its_proof(house: House, ada: Person) -> None:
    for _ in range(5):
        house.clock.turn(timedelta(days=6))
        in_time = await ada.is_in()
    assert not in_time


async def test_sessions_name_their_device_and_end_one_by_one(
    house: House, ada: Person, told: list[tuple[str, Any]]
) -> None:
    other = house.visitor(authenticator=ada.authenticator)
    await other.sign_in()
    listed = (await ada.get(f"{API}/sessions")).json()
    assert {row["device"] for row in listed} == {"Firefox, Linux"}
    ident = await current(other)
    assert (await ada.send("DELETE", f"{API}/sessions/{ident}")).status_code == 204
    assert not await other.is_in()
    assert [(str(what), str(who)) for what, who in told] == [("ended_by_owner", ident)]


async def test_o8_nobody_ends_the_sessions_of_others(house: House, ada: Person) -> None:
    ben = await house.person("ben")
    assert (await ben.send("DELETE", f"{API}/sessions/{await current(ada)}")).status_code == 404
    assert await ada.is_in()


async def test_signing_out_everywhere_spares_nobody_or_the_browser_that_asks(
    house: House, ada: Person, told: list[tuple[str, Any]]
) -> None:
    others = [house.visitor(authenticator=ada.authenticator) for _ in range(2)]
    for other in others:
        await other.sign_in()
    await ada.send("DELETE", f"{API}/sessions?keep_current=true")
    assert [await person.is_in() for person in (ada, *others)] == [True, False, False]
    await ada.send("DELETE", f"{API}/sessions")
    assert SESSION not in ada.cookies
    assert reasons(told) == ["ended_by_owner"] * 3


async def test_somebody_elses_session_in_this_browser_ends(
    house: House, ada: Person, told: list[tuple[str, Any]]
) -> None:
    ben = await house.person("ben")
    shared = house.visitor(authenticator=ben.authenticator, cookies=ada.cookies)
    await shared.sign_in()
    assert reasons(told) == ["replaced"]


async def test_c9_a_disabled_account_is_out_at_once_and_others_are_told(
    house: House, ada: Person, told: list[tuple[str, Any]]
) -> None:
    admin = await house.person("root", Role.ADMIN)
    account = next(row for row in (await admin.get(f"{API}/accounts")).json() if row["name"] == "ada")
    codes = await ada.recovery_codes()
    answer = await admin.send("PATCH", f"{API}/accounts/{account['id']}", json={"disabled": True})
    assert answer.status_code == 200
    assert not await ada.is_in()
    assert (await ada.sign_in()).status_code == 401
    assert (await ada.recover("ada", codes[0])).status_code == 401
    assert sorted(reasons(told)) == ["account disabled", "account_disabled"]
    await admin.send("PATCH", f"{API}/accounts/{account['id']}", json={"disabled": False})
    assert not await ada.is_in()
    assert (await ada.sign_in()).status_code == 200


async def test_e9_a_recovery_code_tells_that_credentials_were_reset(
    house: House, ada: Person, told: list[tuple[str, Any]]
) -> None:
    codes = await ada.recovery_codes()
    await house.visitor().recover("ada", codes[0])
    assert sorted(reasons(told)) == ["account credentials_reset", "credentials_reset"]


async def test_i3_the_methods_tell_a_passkey_from_a_code(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    await house.visitor().recover("ada", codes[0])
    kept = [str(row[0]) for row in await house.rows("SELECT amr FROM sessions ORDER BY created_at, amr")]
    assert len({methods.replace('"', "'") for methods in kept}) == 2


async def test_writes_without_the_form_token_are_refused(ada: Person) -> None:
    for path in ("sign-in/options", "sign-in", "recovery", "passkeys/options", "invitations/accept/options"):
        forged = await ada.post(f"{API}/{path}", headers={"X-CSRF-Token": "x" * 43})
        assert (forged.status_code, forged.json()["code"]) == (403, "csrf_failed"), path
        elsewhere = await ada.post(f"{API}/{path}", headers={"Sec-Fetch-Site": "cross-site"})
        assert elsewhere.json()["code"] == "csrf_failed", path
    ada.cookies = {CSRF: ""}
    assert (await ada.post(f"{API}/sign-in/options")).status_code == 403


async def test_the_use_of_a_session_is_written_later(house: House, ada: Person) -> None:
    house.clock.turn(timedelta(hours=1))
    with house.statements() as statements:
        assert await ada.is_in()
    assert not [statement for statement in statements if statement.startswith("UPDATE")]
    assert house.app.state.last_uses.take()
