"""Headless Chromium for tests, and desks: browser profiles with a virtual authenticator each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect, sync_playwright

#: How long anything in a browser may take, in milliseconds: a busy machine is no failure.
PATIENCE = 30_000
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
# A virtual authenticator answers the offer in the field at once, so that a page may be left before its button
# is pressed. Whoever tests the button takes the offer away.
_NO_OFFER = """globalThis.PublicKeyCredential &&
  (PublicKeyCredential.isConditionalMediationAvailable = async () => false);"""

Complaint = Callable[[str], bool]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser whose expectations wait as long as everything else in it."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_ARGUMENTS)
        yield launched
        launched.close()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser profile of its own, as patient as the rest."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    return context


def listen(page: Page, complaints: list[str]) -> None:
    """Keep what the browser complains about, such as a refused policy, but no answer of 4xx."""
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def hear(said: Any) -> None:
        if said.type in {"error", "warning"} and "the server responded with a status of 4" not in said.text:
            complaints.append(said.text)

    page.on("console", hear)


@dataclass
class Desk:
    """One browser profile with its authenticator."""

    context: BrowserContext
    page: Page
    devices: CDPSession
    authenticator: str
    complaints: list[str] = field(default_factory=list)

    def accept(self, link: str, name: str) -> None:
        """From the invitation to the account's own page."""
        self.page.goto(link)
        self.page.get_by_label("Login name").fill(name)
        self.page.get_by_label("Your name").fill(name.title())
        self.page.get_by_role("button", name="Make a passkey").click()
        self.page.wait_for_url("**/auth/account")

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
        sent = {"authenticatorId": self.authenticator, "credential": credential}
        self.devices.send("WebAuthn.addCredential", sent)

    def take_away(self, credential_id: str) -> None:
        told = {"authenticatorId": self.authenticator, "credentialId": credential_id}
        self.devices.send("WebAuthn.removeCredential", told)

    def plug_in(self) -> None:
        """A second authenticator in place of the first one."""
        self.devices.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.authenticator})
        self.authenticator = add_authenticator(self.devices, transport="usb")


def add_authenticator(devices: CDPSession, **options: Any) -> str:
    made = devices.send("WebAuthn.addVirtualAuthenticator", {"options": {**_AUTHENTICATOR, **options}})
    return str(made["authenticatorId"])


@dataclass
class Desks:
    """Opens desks at one server."""

    browser: Browser
    origin: str
    opened: list[Desk] = field(default_factory=list)

    def open(self, *, offer: bool = False) -> Desk:
        """A new profile; `offer` leaves it the passkeys that a page offers in its field."""
        context = new_context(self.browser, base_url=self.origin, viewport={"width": 1280, "height": 900})
        if not offer:
            context.add_init_script(_NO_OFFER)
        page = context.new_page()
        devices = context.new_cdp_session(page)
        devices.send("WebAuthn.enable", {"enableUI": False})
        desk = Desk(context, page, devices, add_authenticator(devices))
        listen(page, desk.complaints)
        self.opened.append(desk)
        return desk


@contextmanager
def desks_at(browser: Browser, origin: str) -> Iterator[Desks]:
    """Desks that are closed afterwards; what a browser complains about fails the test."""
    desks = Desks(browser, origin)
    yield desks
    for desk in desks.opened:
        desk.context.close()
    assert [said for desk in desks.opened for said in desk.complaints] == []
