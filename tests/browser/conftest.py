"""A running Lite, Chromium, and desks: browser profiles with a virtual authenticator each."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect, sync_playwright

from auth_server.commands import make_invitation
from auth_server.resources import open_resources
from routeloom.lite.configuration import Addresses, lite_settings
from routeloom.lite.home import Home
from shared.kernel.principal import Role
from tests.journeys.lite import Lite, lite

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
PATIENCE = 30_000
_AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


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

    def sign_in(self, path: str = "/") -> None:
        """To a page of the portal, by its sign-in button."""
        self.page.goto(path)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(self.page.get_by_role("button", name="Sign out").first).to_be_attached()

    def credentials(self) -> list[dict[str, Any]]:
        told = self.devices.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})
        found: list[dict[str, Any]] = told["credentials"]
        return found

    def give(self, credential: dict[str, Any]) -> None:
        sent = {"authenticatorId": self.authenticator, "credential": credential}
        self.devices.send("WebAuthn.addCredential", sent)


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lite]:
    with lite(tmp_path_factory.mktemp("browser") / "home") as started:
        yield started


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def invite(server: Lite) -> Callable[[Role], str]:
    """What `routeloom auth invite` prints."""
    settings = lite_settings(Home(server.home), Addresses(server.url, server.url), "ERROR").auth

    async def make(role: Role) -> str:
        async with open_resources(settings) as resources:
            return await make_invitation(resources, role)

    def run(role: Role) -> str:
        # In a thread, because the browser's driver has the loop of this one.
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(lambda: asyncio.run(make(role))).result()

    return run


@pytest.fixture
def open_desk(server: Lite, browser: Browser) -> Iterator[Callable[[], Desk]]:
    """Opens browsers; a complaint of one that is not about an answer we asked for fails the test."""
    opened: list[Desk] = []

    def open_one() -> Desk:
        context = browser.new_context(base_url=server.url, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        devices = context.new_cdp_session(page)
        devices.send("WebAuthn.enable", {"enableUI": False})
        made = devices.send("WebAuthn.addVirtualAuthenticator", {"options": _AUTHENTICATOR})
        desk = Desk(context, page, devices, str(made["authenticatorId"]))
        page.on("pageerror", lambda error: desk.complaints.append(str(error)))

        def hear(said: Any) -> None:
            if said.type in {"error", "warning"} and "with a status of 4" not in said.text:
                desk.complaints.append(said.text)

        page.on("console", hear)
        opened.append(desk)
        return desk

    yield open_one
    for desk in opened:
        desk.context.close()
    assert [said for desk in opened for said in desk.complaints] == []
