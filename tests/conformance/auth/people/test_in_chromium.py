"""Invitation, passkeys and sessions in Chromium, whose authenticator is a virtual one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect, sync_playwright

from shared.kernel.principal import Role
from tests.conformance.auth.people.served import Served, serving

pytestmark = pytest.mark.browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
PATIENCE = 20_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("auth")) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield launched
        launched.close()


@dataclass
class Desk:
    """One browser profile with its authenticator."""

    context: BrowserContext
    page: Page
    devices: CDPSession
    authenticator: str
    complaints: list[str] = field(default_factory=list)

    def verify(self, shown: bool) -> None:
        """Whether its owner shows a finger."""
        told = {"authenticatorId": self.authenticator, "isUserVerified": shown}
        self.devices.send("WebAuthn.setUserVerified", told)

    def touch(self, enabled: bool) -> None:
        """Whether somebody touches it by themselves."""
        told = {"authenticatorId": self.authenticator, "enabled": enabled}
        self.devices.send("WebAuthn.setAutomaticPresenceSimulation", told)

    def credentials(self) -> list[dict[str, Any]]:
        told = self.devices.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})
        found: list[dict[str, Any]] = told["credentials"]
        return found

    def give(self, credential: dict[str, Any]) -> None:
        self.devices.send(
            "WebAuthn.addCredential", {"authenticatorId": self.authenticator, "credential": credential}
        )

    def take_away(self, credential_id: str) -> None:
        told = {"authenticatorId": self.authenticator, "credentialId": credential_id}
        self.devices.send("WebAuthn.removeCredential", told)

    def plug_in(self) -> None:
        """A second authenticator in place of the first one."""
        self.devices.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.authenticator})
        self.authenticator = add_authenticator(self.devices, transport="usb")

    def accept(self, link: str, name: str) -> None:
        self.page.goto(link)
        self.page.get_by_label("Login name").fill(name)
        self.page.get_by_label("Your name").fill(name.title())
        self.page.get_by_role("button", name="Make a passkey").click()
        self.page.wait_for_url("**/auth/account")

    def sign_in(self) -> None:
        self.page.goto("/auth/sign-in")
        self.page.get_by_role("button", name="Sign in with a passkey").click()


def add_authenticator(devices: CDPSession, **options: Any) -> str:
    made = devices.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
                **options,
            }
        },
    )
    return str(made["authenticatorId"])


@pytest.fixture
def desks(server: Served, browser: Browser) -> Iterator[Any]:
    """Opens browsers; any complaint that is not about a refusal we asked for fails the test."""
    opened: list[Desk] = []

    def open_desk(**options: Any) -> Desk:
        context = browser.new_context(base_url=server.origin, viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        devices = context.new_cdp_session(page)
        devices.send("WebAuthn.enable", {"enableUI": False})
        made = add_authenticator(devices, **options)
        desk = Desk(context, page, devices, made)
        page.on("pageerror", lambda error: desk.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: (
                desk.complaints.append(said.text)
                if said.type in {"error", "warning"}
                and "the server responded with a status of 4" not in said.text
                else None
            ),
        )
        opened.append(desk)
        return desk

    yield open_desk
    for desk in opened:
        desk.context.close()
    assert [said for desk in opened for said in desk.complaints] == []


def test_an_invitation_becomes_a_signed_in_person(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(Role.ADMIN), "ada")
    expect(desk.page.get_by_role("heading", name="Your account")).to_be_visible()
    desk.page.get_by_role("link", name="Accounts").first.click()
    expect(desk.page.get_by_role("link", name="ada")).to_be_visible()
    desk.page.get_by_role("button", name="Sign out").first.click()
    expect(desk.page.get_by_role("heading", name="Sign in to")).to_be_visible()


def test_n15_a_passkey_is_offered_in_the_field(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "bea")
    desk.context.clear_cookies()
    desk.page.goto("/auth/sign-in")
    expect(desk.page.get_by_label("Account")).to_have_attribute("autocomplete", "username webauthn")
    # Nobody presses a button: the page's own offer is answered.
    desk.page.wait_for_url("**/auth/account")


def test_n15_the_button_takes_over_from_the_offer_with_a_new_challenge(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "cleo")
    desk.context.clear_cookies()
    desk.touch(False)
    challenges: list[str] = []
    desk.page.on(
        "response",
        lambda answer: (
            challenges.append(answer.json()["options"]["challenge"])
            if answer.url.endswith("/sign-in/options")
            else None
        ),
    )
    with desk.page.expect_response("**/sign-in/options"):
        desk.page.goto("/auth/sign-in")
    desk.touch(True)
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    desk.page.wait_for_url("**/auth/account")
    assert len(set(challenges)) == 2


def test_a_refused_passkey_says_so_and_the_next_try_has_a_new_challenge(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "dora")
    desk.context.clear_cookies()
    desk.touch(False)
    desk.page.goto("/auth/sign-in")
    desk.page.get_by_label("Account").fill("somebody-else")
    desk.touch(True)
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    expect(desk.page.get_by_text("This passkey is not accepted here.")).to_be_visible()


def test_n4_an_authenticator_that_verifies_nobody_is_refused(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "eve")
    desk.context.clear_cookies()
    desk.verify(False)
    desk.sign_in()
    expect(desk.page.locator("[data-passkey-error]")).to_be_visible()
    assert not signed_in(desk)


def test_n10_the_same_authenticator_is_not_registered_twice(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "fay")
    desk.page.get_by_role("button", name="Add a passkey").click()
    expect(desk.page.get_by_text("holds a passkey of this account already")).to_be_visible()
    assert len(desk.credentials()) == 1


def test_a_second_authenticator_is_added_renamed_and_removed(server: Served, desks: Any) -> None:
    desk = desks()
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


def test_n6_a_copied_id_with_another_key_is_refused(server: Served, desks: Any) -> None:
    """The other person's credential id, with a key of one's own behind it."""
    owner, thief = desks(), desks()
    owner.accept(server.invite(), "hana")
    thief.accept(server.invite(), "ivo")
    stolen = {**thief.credentials()[0], "credentialId": owner.credentials()[0]["credentialId"]}
    fresh = desks()
    fresh.give(stolen)
    fresh.sign_in()
    expect(fresh.page.get_by_text("This passkey is not accepted here.")).to_be_visible()
    assert not signed_in(fresh)


def test_n7_another_persons_passkey_does_not_confirm(server: Served, desks: Any) -> None:
    desk, other = desks(), desks()
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


def test_two_tabs_sign_in_beside_one_another(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "lou")
    desk.context.clear_cookies()
    desk.touch(False)
    desk.page.goto("/auth/sign-in")
    second = desk.context.new_page()
    second.goto("/auth/sign-in?next=%2Fauth%2Faccount%3Ftab%3D2")
    desk.touch(True)
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    desk.page.wait_for_url("**/auth/account")
    second.reload()
    second.wait_for_url("**/auth/account?tab=2")
    second.close()


def test_signing_out_everywhere_ends_the_other_browser(server: Served, desks: Any) -> None:
    here, there = desks(), desks()
    here.accept(server.invite(), "mia")
    for credential in here.credentials():
        there.give(credential)
    there.page.goto("/auth/sign-in")
    there.page.wait_for_url("**/auth/account")
    here.page.reload()
    expect(here.page.get_by_text("this browser")).to_have_count(1)
    here.page.get_by_role("button", name="Sign out everywhere").click()
    here.page.wait_for_url("**/auth/sign-in")
    there.page.goto("/auth/account")
    there.page.wait_for_url("**/auth/sign-in?next=**")


def test_recovery_codes_let_in_without_a_passkey(server: Served, desks: Any) -> None:
    desk = desks()
    desk.accept(server.invite(), "nan")
    desk.page.get_by_role("button", name="Make recovery codes").click()
    codes = desk.page.locator("pre").inner_text().split()
    assert len(codes) == 10
    other = desks()
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


def test_an_administrator_invites_and_shuts_out(server: Served, desks: Any) -> None:
    admin, person = desks(), desks()
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
    person.sign_in()
    expect(person.page.get_by_text("This passkey is not accepted here.")).to_be_visible()


def signed_in(desk: Desk) -> bool:
    return any(cookie["name"] == "__Host-rl_auth" for cookie in desk.context.cookies())
