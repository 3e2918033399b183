"""The pages: what they escape, forbid and lead to. Row O10, and A23 for these pages."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from shared.kernel.principal import Role
from tests.conformance.auth.people.house import API, House, Person

SVG = '<svg onload="1">'
ESCAPED = "&lt;svg"
#: What is drawn does not depend on the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def test_o10_names_of_people_and_passkeys_are_escaped(house: House) -> None:
    admin = await house.person("root", Role.ADMIN)
    begun = await admin.begin("passkeys")
    await admin.post(
        f"{API}/passkeys",
        {
            "ceremony": begun["ceremony"],
            "credential": admin.authenticator.create(begun["options"]),
            "name": SVG,
        },
    )
    await admin.post(f"{API}/invitations", {"role": "viewer", "note": SVG})
    for path in ("/auth/account", "/auth/accounts"):
        page = (await admin.page(path)).text
        assert SVG not in page
        assert ESCAPED in page


async def test_o10_what_was_typed_and_asked_for_is_escaped(house: House) -> None:
    visitor = house.visitor()
    for page in (
        await visitor.form("/auth/recovery", name=SVG, code=SVG, next=SVG),
        await visitor.page("/auth/sign-in?next=/%22%3E%3Csvg%3E"),
        await visitor.page("/auth/invitations/%3Csvg%3E"),
        await visitor.page("/auth/recovery?next=/%3Csvg%3E"),
    ):
        assert SVG not in page.text
        assert "<svg>" not in page.text


async def test_a23_pages_are_not_framed_kept_or_told_of(house: House) -> None:
    link = urlsplit(await house.invitation()).path
    for path in ("/auth/sign-in", "/auth/recovery", link):
        answer = await house.visitor().page(path)
        assert answer.status_code == 200
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text
        assert " onclick" not in answer.text


async def test_n15_the_field_offers_passkeys(house: House) -> None:
    assert 'autocomplete="username webauthn"' in (await house.visitor().page("/auth/sign-in")).text


async def test_pages_of_people_lead_to_sign_in_and_back(house: House) -> None:
    for path in ("/auth/account", "/auth/accounts", "/auth/step-up"):
        answer = await house.visitor().page(path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/auth/sign-in?next={path}")


async def test_a_fresh_proof_can_be_asked_for(ada: Person) -> None:
    assert (await ada.page("/auth/sign-in")).status_code == 303
    assert (await ada.page("/auth/sign-in?again=true")).status_code == 200


async def test_an_invitation_is_looked_at_as_often_as_one_likes(house: House) -> None:
    link = await house.invitation()
    visitor = house.visitor()
    for _ in range(2):
        assert (await visitor.page(urlsplit(link).path)).status_code == 200
    assert (await visitor.accept(link, "ada")).status_code == 201
    assert (await visitor.page(urlsplit(link).path)).status_code == 410


async def test_recovery_works_without_a_script(house: House, ada: Person) -> None:
    codes = await ada.recovery_codes()
    visitor = house.visitor()
    refused = await visitor.form("/auth/recovery", name="ada", code="2222-2222-2222-2222")
    assert refused.status_code == 401
    assert "rl-form-errors" in refused.text
    done = await visitor.form("/auth/recovery", name="ada", code=codes[0], next="/auth/accounts")
    assert (done.status_code, done.headers["location"]) == (303, "/auth/accounts")
    assert await visitor.is_in()


async def test_a_form_that_wants_a_fresh_passkey_leads_to_it_and_back(house: House, ada: Person) -> None:
    house.clock.turn(timedelta(minutes=6))
    answer = await ada.form("/auth/account/recovery-codes?back=/auth/account")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/auth/step-up?next=%2Fauth%2Faccount"
    assert (await ada.step_up()).status_code == 200
    page = await ada.form("/auth/account/recovery-codes")
    assert (page.status_code, page.text.count("-") > 30) == (201, True)


async def test_own_pages_work_without_a_script(house: House, ada: Person) -> None:
    await ada.add_passkey()
    first = (await ada.get(f"{API}/passkeys")).json()[0]["id"]
    path = f"/auth/account/passkeys/{first}"
    assert (await ada.page(path)).status_code == 200
    assert (await ada.form(f"{path}/rename", name="drawer")).status_code == 303
    assert (await ada.form(f"{path}/rename", name="  ")).status_code == 422
    assert (await ada.form(f"{path}/remove")).status_code == 303
    other = (await ada.get(f"{API}/passkeys")).json()[0]["id"]
    assert (await ada.form(f"/auth/account/passkeys/{other}/remove")).status_code == 409
    assert (await ada.form("/auth/sign-out")).headers["location"] == "/auth/sign-in"
    assert not await ada.is_in()


async def test_forms_without_the_token_are_refused(ada: Person) -> None:
    for path in ("/auth/account/sign-out-everywhere", "/auth/sign-out", "/auth/account/recovery-codes"):
        forged = await ada.send("POST", path, data={"csrf_token": "x" * 43}, headers={"X-CSRF-Token": ""})
        assert forged.status_code == 403
    assert await ada.is_in()


async def test_chinese_pages_are_chinese(house: House) -> None:
    answer = await house.visitor().send(
        "GET", "/auth/sign-in", headers={"Accept": "text/html", "Accept-Language": "zh-CN"}
    )
    assert "用通行密钥登录" in answer.text
