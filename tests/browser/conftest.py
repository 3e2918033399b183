"""A running Lite with a browser before it."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, expect

from auth_server.commands import make_invitation
from auth_server.resources import open_resources
from routeloom.lite.configuration import Addresses, lite_settings
from routeloom.lite.home import Home
from shared.kernel.principal import Role
from tests.chromium import Desk, Desks, chromium, desks_at
from tests.journeys.lite import Lite, lite


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lite]:
    with lite(tmp_path_factory.mktemp("browser") / "home") as started:
        yield started


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="package")
def invite(server: Lite) -> Callable[[Role], str]:
    """What `routeloom auth invite` prints."""
    settings = lite_settings(Home(server.home), Addresses(server.url, server.url), "ERROR").auth()

    async def make(role: Role) -> str:
        async with open_resources(settings) as resources:
            return await make_invitation(resources, role)

    def run(role: Role) -> str:
        # In a thread, because the browser's driver has the loop of this one.
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(lambda: asyncio.run(make(role))).result()

    return run


@pytest.fixture
def desks(server: Lite, browser: Browser) -> Iterator[Desks]:
    with desks_at(browser, server.url) as opening:
        yield opening


def sign_in(desk: Desk, path: str = "/") -> None:
    """To a page of the portal, by its sign-in button; whoever is not signed in there uses the passkey."""
    desk.page.goto(path)
    desk.page.get_by_role("button", name="Sign in", exact=True).click()
    passkey, inside = (
        desk.page.get_by_role("button", name="Sign in with a passkey"),
        desk.page.get_by_role("button", name="Sign out").first,
    )
    passkey.or_(inside).first.wait_for(state="attached")
    if passkey.is_visible():
        passkey.click()
    expect(inside).to_be_attached()
