"""Signing in to the portal in Chromium, from the printed invitation to signing out everywhere."""

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from playwright.sync_api import Route, expect

from shared.kernel.principal import Role
from tests.browser.conftest import sign_in
from tests.chromium import PATIENCE, Desks
from tests.journeys.lite import Lite

pytestmark = pytest.mark.browser

Invite = Callable[[Role], str]
#: Entries of the sidebar by who sees them.
FOR_ALL = {"Dashboard", "Nodes", "Looking glass", "Tokens"}
FOR_ADMINS = {"Enrolment", "Tiers", "Audit"}


def test_the_printed_invitation_makes_the_first_administrator(server: Lite, desks: Desks) -> None:
    desk = desks.open()
    desk.accept(server.invitation, "ada")
    sign_in(desk, "/enrolment")
    expect(desk.page).to_have_url(f"{server.url}/enrolment")
    desk.page.get_by_label("Node").fill("fra1")
    desk.page.get_by_role("button", name="Make token").click()
    expect(desk.page.get_by_text(re.compile(r"^rle_"))).to_be_visible()


def test_a_stranger_uses_their_passkey_and_comes_to_the_page_they_wanted(
    server: Lite, desks: Desks, invite: Invite
) -> None:
    desk = desks.open()
    desk.accept(invite(Role.OPERATOR), "bea")
    desk.context.clear_cookies()
    desk.page.goto("/nodes?q=de")
    expect(desk.page).to_have_url(f"{server.url}/sign-in?next=/nodes%3Fq%3Dde")
    desk.page.get_by_role("button", name="Sign in", exact=True).click()
    desk.page.get_by_role("button", name="Sign in with a passkey").click()
    desk.page.wait_for_url("**/nodes?q=de")
    expect(desk.page.get_by_role("link", name="demo").first).to_be_visible()


def test_a_button_cannot_be_pressed_before_its_script_has_come(desks: Desks, invite: Invite) -> None:
    desk = desks.open()
    desk.accept(invite(Role.VIEWER), "hana")
    desk.context.clear_cookies()
    held: list[Route] = []
    desk.page.route("**/passkeys.mjs*", lambda route: held.append(route))  # noqa: PLW0108 - it marks what it is given
    desk.page.goto("/nodes?q=de")
    desk.page.get_by_role("button", name="Sign in", exact=True).click(no_wait_after=True)
    button = desk.page.get_by_role("button", name="Sign in with a passkey")
    expect(button).to_be_disabled()
    expect(desk.page.get_by_role("button", name="Use another device")).to_be_disabled()
    held.pop().continue_()
    button.click()
    desk.page.wait_for_url("**/nodes?q=de")


@pytest.mark.parametrize("role", list(Role))
def test_each_role_sees_what_its_row_says(desks: Desks, invite: Invite, role: Role) -> None:
    desk = desks.open()
    desk.accept(invite(role), f"row-{role}")
    sign_in(desk)
    sidebar = desk.page.get_by_role("navigation").first
    expect(sidebar.get_by_role("link", name="Dashboard")).to_be_attached()
    seen = {text.strip().splitlines()[0].strip() for text in sidebar.get_by_role("link").all_inner_texts()}
    assert seen >= FOR_ALL
    assert (seen & FOR_ADMINS) == (FOR_ADMINS if role is Role.ADMIN else set())
    desk.page.goto("/nodes/demo")
    reset = desk.page.get_by_role("button", name=re.compile("Reset", re.IGNORECASE))
    assert (reset.count() > 0) == (role is Role.ADMIN)
    answer = desk.page.goto("/enrolment")
    assert answer is not None
    assert answer.status == (200 if role is Role.ADMIN else 403)


def test_what_was_typed_is_there_again_after_a_fresh_proof(
    server: Lite, desks: Desks, invite: Invite
) -> None:
    desk = desks.open()
    desk.accept(invite(Role.ADMIN), "eve")
    sign_in(desk, "/enrolment")
    for database, table in (("control", "portal_sessions"), ("auth", "sessions")):
        with closing(sqlite3.connect(server.home / f"{database}.db", timeout=30)) as connection:
            connection.execute(f"UPDATE {table} SET stepped_up_at = '2026-01-01 00:00:00.000000'")  # noqa: S608
            connection.commit()
    desk.page.get_by_label("Node").fill("ams1")
    desk.page.get_by_role("button", name="Make token").click()
    desk.page.get_by_role("button", name="Use your passkey").click()
    desk.page.get_by_role("button", name=re.compile("with a passkey")).click()
    expect(desk.page).to_have_url(f"{server.url}/enrolment")
    expect(desk.page.get_by_label("Node")).to_have_value("ams1")
    desk.page.get_by_role("button", name="Make token").click()
    expect(desk.page.get_by_text(re.compile(r"^rle_"))).to_be_visible()
    desk.page.goto("/enrolment")
    expect(desk.page.get_by_label("Node")).to_have_value("")


def test_signing_out_everywhere_ends_the_other_browser(desks: Desks, invite: Invite) -> None:
    here, there = desks.open(), desks.open()
    here.accept(invite(Role.VIEWER), "cleo")
    sign_in(here, "/probes")
    there.give(here.credentials()[0])
    sign_in(there, "/probes")
    here.page.goto("/auth/account")
    here.page.get_by_role("button", name=re.compile("everywhere", re.IGNORECASE)).first.click()
    here.page.wait_for_url("**/auth/sign-in")
    # A client that did not answer in time is told again half a minute later.
    deadline = time.monotonic() + 3 * PATIENCE / 1000
    there.page.goto("/nodes")
    while "/sign-in" not in there.page.url:
        assert time.monotonic() < deadline, "the portal is told by the sign-in service"
        there.page.goto("/nodes")


def test_signing_out_of_the_portal_asks_for_the_passkey_again(
    server: Lite, desks: Desks, invite: Invite
) -> None:
    desk = desks.open()
    desk.accept(invite(Role.VIEWER), "dora")
    sign_in(desk)
    desk.page.get_by_role("button", name="Sign out").first.click()
    expect(desk.page).to_have_url(re.compile(re.escape(server.url) + r"/sign-in\?next=/"))
    cookies = {str(cookie.get("name")) for cookie in desk.context.cookies()}
    assert not cookies & {"__Host-rl_control", "__Host-rl_auth"}
