"""Invitation, passkeys and sessions in Chromium, whose authenticator is a virtual one."""

import json
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Request, expect

from auth_server.commands import seed
from shared.kernel.principal import Role
from tests.chromium import Desk, Desks, chromium, desks_at
from tests.conformance.auth.people.served import Served, elsewhere, serving

pytestmark = pytest.mark.browser

#: Keeps the challenges of all that a page asks of an authenticator; what is no offer waits for `go()`.
WATCH_REQUESTS = """
  globalThis.asked = [];
  const get = navigator.credentials.get.bind(navigator.credentials);
  navigator.credentials.get = async (options) => {
    const bytes = new Uint8Array(options.publicKey.challenge);
    asked.push(btoa(String.fromCharCode(...bytes)));
    document.documentElement.dataset.asked = asked.length;
    if (options.mediation !== "conditional") await new Promise((resolve) => { globalThis.go = resolve; });
    return get(options);
  };
"""
REGISTER = """async (wanted) => (await fetch("/auth/api/v1/clients", {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
    "X-CSRF-Token": document.querySelector("meta[name='csrf-token']").content,
  },
  body: JSON.stringify(wanted),
})).status"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("auth")) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def desks(server: Served, browser: Browser) -> Iterator[Desks]:
    with desks_at(browser, server.origin) as opening:
        yield opening


def press_sign_in(desk: Desk) -> None:
    desk.page.goto("/auth/sign-in")
    desk.page.get_by_role("button", name="Sign in with a passkey").click()


def test_an_invitation_becomes_a_signed_in_person(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(Role.ADMIN), "ada")
    expect(desk.page.get_by_role("heading", name="Your account")).to_be_visible()
    desk.page.get_by_role("link", name="Accounts").first.click()
    expect(desk.page.get_by_role("link", name="ada")).to_be_visible()
    desk.page.get_by_role("button", name="Sign out").first.click()
    expect(desk.page.get_by_role("heading", name="Sign in to")).to_be_visible()


def test_n15_a_passkey_is_offered_in_the_field(server: Served, desks: Desks) -> None:
    desk = desks.open(offer=True)
    desk.accept(server.invite(), "bea")
    desk.context.clear_cookies()
    desk.page.goto("/auth/sign-in")
    # Nobody presses a button: the page's own offer is answered.
    desk.page.wait_for_url("**/auth/account")


def test_n15_the_field_says_to_the_browser_that_it_takes_passkeys(desks: Desks) -> None:
    desk = desks.open()
    desk.page.goto("/auth/sign-in")
    expect(desk.page.get_by_label("Account")).to_have_attribute("autocomplete", "username webauthn")


def test_n15_the_button_takes_over_from_the_offer_with_a_new_challenge(server: Served, desks: Desks) -> None:
    desk = desks.open(offer=True)
    desk.accept(server.invite(), "cleo")
    desk.context.clear_cookies()
    desk.touch(False)
    desk.page.add_init_script(WATCH_REQUESTS)
    desk.page.goto("/auth/sign-in")
    page = desk.page.locator("html")
    expect(page).to_have_attribute("data-asked", "1")
    with desk.page.expect_request("**/auth/api/v1/sign-in") as sent:
        desk.page.get_by_role("button", name="Sign in with a passkey").click()
        # Somebody touches it only now that the offer has been withdrawn.
        expect(page).to_have_attribute("data-asked", "2")
        first, second = (b64decode(challenge) for challenge in desk.page.evaluate("asked"))
        desk.touch(True)
        desk.page.evaluate("go()")
    desk.page.wait_for_url("**/auth/account")
    assert challenge_of(sent.value) == second != first


def test_a_refused_passkey_says_so_and_the_next_try_has_a_new_challenge(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "dora")
    desk.context.clear_cookies()
    desk.page.goto("/auth/sign-in")
    button = desk.page.get_by_role("button", name="Sign in with a passkey")
    challenges = []
    for name in ("somebody-else", ""):
        desk.page.get_by_label("Account").fill(name)
        with desk.page.expect_request("**/auth/api/v1/sign-in") as sent:
            button.click()
        challenges.append(challenge_of(sent.value))
        if name:
            expect(desk.page.get_by_text("This passkey is not accepted here.")).to_be_visible()
    desk.page.wait_for_url("**/auth/account")
    assert len(set(challenges)) == 2


def test_n4_an_authenticator_that_verifies_nobody_is_refused(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "eve")
    desk.context.clear_cookies()
    desk.verify(False)
    press_sign_in(desk)
    expect(desk.page.locator("[data-passkey-error]")).to_be_visible()
    assert not signed_in(desk)


def test_n10_the_same_authenticator_is_not_registered_twice(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "fay")
    desk.page.get_by_role("button", name="Add a passkey").click()
    expect(desk.page.get_by_text("holds a passkey of this account already")).to_be_visible()
    assert len(desk.credentials()) == 1


def test_a_second_authenticator_is_added_renamed_and_removed(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "gil")
    desk.plug_in()
    desk.page.get_by_label("What you call it").fill("spare key")
    desk.page.get_by_role("button", name="Add a passkey").click()
    desk.page.get_by_role("link", name="spare key").click()
    desk.page.get_by_label("What you call it").fill("drawer")
    desk.page.get_by_role("button", name="Save").click()
    desk.page.get_by_role("link", name="drawer").click()
    desk.page.get_by_role("button", name="Remove this passkey").click()
    desk.page.wait_for_url("**/auth/account")
    expect(desk.page.get_by_role("link", name="drawer")).to_have_count(0)


def test_n6_a_copied_id_with_another_key_is_refused(server: Served, desks: Desks) -> None:
    """The other person's credential id, with a key of one's own behind it."""
    owner, thief = desks.open(), desks.open()
    owner.accept(server.invite(), "hana")
    thief.accept(server.invite(), "ivo")
    stolen = {**thief.credentials()[0], "credentialId": owner.credentials()[0]["credentialId"]}
    fresh = desks.open()
    fresh.give(stolen)
    press_sign_in(fresh)
    expect(fresh.page.get_by_text("This passkey is not accepted here.")).to_be_visible()
    assert not signed_in(fresh)


def test_n7_another_persons_passkey_does_not_confirm(server: Served, desks: Desks) -> None:
    desk, other = desks.open(), desks.open()
    desk.accept(server.invite(), "jo")
    other.accept(server.invite(), "kim")
    other.give({**desk.credentials()[0]})
    own = other.credentials()
    for credential in own:
        if credential["credentialId"] != desk.credentials()[0]["credentialId"]:
            other.take_away(credential["credentialId"])
    other.page.goto("/auth/step-up")
    other.page.get_by_role("button", name="Confirm with a passkey").click()
    expect(other.page.locator("[data-passkey-error]")).to_be_visible()


def test_two_tabs_sign_in_beside_one_another(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "lou")
    desk.context.clear_cookies()
    desk.page.goto("/auth/sign-in")
    second = desk.context.new_page()
    second.goto("/auth/sign-in?next=%2Fauth%2Faccount%3Ftab%3D2")
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    desk.page.wait_for_url("**/auth/account")
    second.reload()
    second.wait_for_url("**/auth/account?tab=2")
    second.close()


def test_signing_out_everywhere_ends_the_other_browser(server: Served, desks: Desks) -> None:
    here, there = desks.open(), desks.open()
    here.accept(server.invite(), "mia")
    for credential in here.credentials():
        there.give(credential)
    press_sign_in(there)
    there.page.wait_for_url("**/auth/account")
    here.page.reload()
    expect(here.page.get_by_text("this browser")).to_have_count(1)
    ask = "fetch('/auth/api/v1/sessions').then((told) => told.status)"
    assert there.page.evaluate(ask) == 200
    with here.page.expect_response("**/account/sign-out-everywhere"):
        here.page.get_by_role("button", name="Sign out everywhere").click()
    # No time passes: the first question after the answer is refused already.
    assert there.page.evaluate(ask) == 401
    here.page.wait_for_url("**/auth/sign-in")
    there.page.goto("/auth/account")
    there.page.wait_for_url("**/auth/sign-in?next=**")


def test_recovery_codes_let_in_without_a_passkey(server: Served, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "nan")
    desk.page.get_by_role("button", name="Make recovery codes").click()
    codes = desk.page.locator("pre").inner_text().split()
    assert len(codes) == 10
    other = desks.open()
    other.page.goto("/auth/recovery")
    other.page.get_by_label("Account").fill("nan")
    other.page.get_by_label("Recovery code").fill(codes[0])
    other.page.get_by_role("button", name="Sign in").click()
    other.page.wait_for_url("**/auth/account")
    expect(other.page.get_by_text("9 codes are good.")).to_be_visible()
    other.page.get_by_role("button", name="Add a passkey").click()
    expect(other.page.locator("main table").first.locator("tbody tr")).to_have_count(2)
    desk.page.goto("/auth/account")
    desk.page.wait_for_url("**/auth/sign-in?next=**")


def test_an_administrator_invites_and_shuts_out(server: Served, desks: Desks) -> None:
    admin, person = desks.open(), desks.open()
    admin.accept(server.invite(Role.ADMIN), "olga")
    admin.page.goto("/auth/accounts")
    admin.page.get_by_label("For whom").fill("the night shift")
    admin.page.get_by_role("combobox", name="Role").select_option("operator")
    admin.page.get_by_role("button", name="Make invitation").click()
    person.accept(admin.page.locator(".rl-command code").inner_text(), "pia")
    admin.page.goto("/auth/accounts")
    admin.page.get_by_role("link", name="pia").click()
    admin.page.get_by_role("button", name="Disable").click()
    expect(admin.page.get_by_text("disabled since")).to_be_visible()
    person.page.goto("/auth/account")
    person.page.wait_for_url("**/auth/sign-in?next=**")
    press_sign_in(person)
    expect(person.page.get_by_text("This passkey is not accepted here.")).to_be_visible()


def signed_in(desk: Desk) -> bool:
    return any(cookie["name"] == "__Host-rl_auth" for cookie in desk.context.cookies())


def challenge_of(sign_in: Request) -> bytes:
    """What the authenticator has signed."""
    sent = json.loads(sign_in.post_data or "")
    signed = json.loads(unpadded(sent["credential"]["response"]["clientDataJSON"]))
    return unpadded(signed["challenge"])


def unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_o10_a_long_address_stays_inside_a_small_page(desks: Desks, server: Served) -> None:
    elsewhere(seed(server.settings))
    desk = desks.open()
    desk.accept(server.invite(Role.ADMIN), "ivy")
    address = f"https://shop.example/{'a' * 120}"
    made = desk.page.evaluate(REGISTER, {"client_id": "shop", "name": "Shop", "redirect_uris": [address]})
    assert made == 201
    asked = {"response_type": "code", "client_id": "shop", "scope": "openid", "redirect_uri": address}
    asked |= {"code_challenge": "A" * 43, "code_challenge_method": "S256"}
    desk.page.set_viewport_size({"width": 360, "height": 800})
    desk.page.goto(f"/auth/authorize?{urlencode(asked)}")
    expect(desk.page.get_by_text(address)).to_be_visible()
    assert desk.page.evaluate("document.documentElement.scrollWidth") == 360
