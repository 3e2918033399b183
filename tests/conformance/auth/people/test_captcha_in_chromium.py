"""The real widget does the real work in Chromium, under the policy of the page. Row O7."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.chromium import Desks, chromium, desks_at
from tests.conformance.auth.people.cap import CapStandIn, cap_server
from tests.conformance.auth.people.served import Served, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def cap() -> Iterator[CapStandIn]:
    with cap_server() as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cap: CapStandIn) -> Iterator[Served]:
    # Every address is suspicious here, so that a passkey needs it as well.
    wanted = {**cap.settings, "captcha_after": 0}
    with serving(tmp_path_factory.mktemp("auth"), **wanted) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def desks(server: Served, browser: Browser) -> Iterator[Desks]:
    with desks_at(browser, server.origin) as opening:
        yield opening


def test_o7_a_recovery_code_after_real_work(server: Served, desks: Desks, cap: CapStandIn) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "nan")
    desk.page.get_by_role("button", name="Make recovery codes").click()
    code = desk.page.locator("pre").inner_text().split()[0]
    other = desks.open()
    other.page.goto("/auth/recovery")
    other.page.get_by_label("Account").fill("nan")
    other.page.get_by_label("Recovery code").fill("2222-2222-2222-2222")
    other.page.get_by_role("button", name="Sign in").click()
    expect(other.page.get_by_text("The name or the code is wrong")).to_be_visible()
    # The first token is spent; the form earns another one by itself.
    other.page.get_by_label("Recovery code").fill(code)
    other.page.get_by_role("button", name="Sign in").click()
    other.page.wait_for_url("**/auth/account")
    redeemed = [body for path, body in cap.asked if path == "redeem"]
    assert len(redeemed) == 2
    assert len({body["response"] for body in cap.verified()}) == 2


def test_o7_a_passkey_after_real_work(server: Served, desks: Desks, cap: CapStandIn) -> None:
    desk = desks.open()
    desk.accept(server.invite(), "oda")
    desk.context.clear_cookies()
    before = len(cap.verified())
    desk.page.goto("/auth/sign-in")
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    desk.page.wait_for_url("**/auth/account")
    assert len(cap.verified()) == before + 1


def test_o7_with_the_captcha_away_the_page_says_so(server: Served, desks: Desks, cap: CapStandIn) -> None:
    desk = desks.open()
    desk.page.route(f"{cap.url}/**", lambda route: route.fulfill(status=404, json={"error": "x"}))
    desk.page.goto("/auth/recovery")
    desk.page.get_by_label("Account").fill("nan")
    desk.page.get_by_label("Recovery code").fill("2222-2222-2222-2222")
    desk.page.get_by_role("button", name="Sign in").click()
    expect(desk.page.get_by_text("The check cannot be done now.")).to_be_visible()


def test_o7_a_passkey_that_waits_for_the_captcha_is_not_recommended(
    server: Served, desks: Desks, cap: CapStandIn
) -> None:
    desk = desks.open()
    desk.page.route(f"{cap.url}/**", lambda route: route.fulfill(status=404, json={"error": "x"}))
    desk.page.goto("/auth/sign-in")
    desk.page.get_by_role("button", name="Use another device").focus()
    expect(desk.page.get_by_text("The check cannot be done now. Try again in a moment.")).to_be_visible()
