"""The browser's modules, in a real browser, against streams that break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.unit.shared.web.pages.conftest import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ENDED = ".rl-live[data-state='ended']"

HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SAY = """([from, to]) => {
  for (let seq = from; seq <= to; seq += 1) {
    const detail = { node: "hkg1", seq, stream: "stdout", text: `line ${seq}` };
    const event = new CustomEvent("stream-output", { detail, bubbles: true });
    document.querySelector("[data-stream]").dispatchEvent(event);
  }
}"""


def numbers(page: Page) -> list[str]:
    shown: list[str] = page.eval_on_selector_all(
        "[data-terminal] [data-seq]", "all => all.map(e => e.dataset.seq)"
    )
    return shown


class TestStream:
    @pytest.mark.parametrize("script", ["whole", "cut-1"])
    def test_shows_every_line_once_and_in_order(self, browser: Browser, gallery: str, script: str) -> None:
        with opened(browser, f"{gallery}/live?script={script}") as watched:
            watched.page.locator(ENDED).wait_for()
            assert numbers(watched.page) == [str(n) for n in range(1, 13)]
            assert watched.complaints == []

    def test_writes_output_as_text_only(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            watched.page.locator(ENDED).wait_for()
            assert watched.page.locator("[data-terminal] img").count() == 0
            assert watched.page.locator("[data-seq='4']").inner_text() == "<img src=x onerror=alert(1)>"

    def test_says_where_lines_are_missing(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live?script=hole-1") as watched:
            watched.page.locator(ENDED).wait_for()
            assert watched.page.locator(".rl-term-gap").all_inner_texts() == ["Lines 5 to 6 are missing"]

    def test_tries_again_by_itself_when_the_first_answer_is_not_200(
        self, browser: Browser, gallery: str
    ) -> None:
        with opened(browser, f"{gallery}/live?script=busy-1") as watched:
            watched.page.locator(ENDED).wait_for()
            assert len(numbers(watched.page)) == 12
            assert watched.page.locator("[data-stream-banner]").is_hidden()

    def test_stops_with_a_banner_when_the_server_refuses_for_good(
        self, browser: Browser, gallery: str
    ) -> None:
        with opened(browser, f"{gallery}/live?script=gone-1") as watched:
            banner = watched.page.locator("[data-stream-banner]")
            banner.wait_for()
            assert "404" in banner.inner_text()
            assert numbers(watched.page) == ["1", "2"]

    def test_refreshes_a_part_of_the_page_on_a_named_event(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            expect(watched.page.locator("#part")).to_have_text("fresh")

    def test_writes_live_values(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            expect(watched.page.locator("[data-value=rtt]")).to_have_text("36.4 ms")


class TestHiddenPage:
    def test_lets_go_of_the_stream_after_minutes_and_takes_it_up_again(
        self, browser: Browser, gallery: str
    ) -> None:
        with opened(browser, f"{gallery}/sign-in") as watched:
            page = watched.page
            page.clock.install()
            page.goto(f"{gallery}/live?script=open-1")
            page.locator(".rl-live[data-state='live']").wait_for()
            page.evaluate(HIDE, True)
            page.clock.fast_forward("04:00")
            assert page.locator(".rl-live[data-state='paused']").count() == 0
            page.clock.fast_forward("01:01")
            page.locator(".rl-live[data-state='paused']").wait_for()
            page.evaluate(HIDE, False)
            page.locator(".rl-live[data-state='live']").wait_for()
            assert len(set(numbers(page))) == len(numbers(page))


class TestTerminal:
    def test_stays_where_somebody_reads_and_counts_what_is_new(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live?script=open-2") as watched:
            page = watched.page
            pill = page.locator("[data-terminal-pill]")
            page.evaluate(SAY, [20, 120])
            expect(page.locator("[data-seq='120']")).to_be_in_viewport()
            page.evaluate("document.querySelector('[data-terminal-lines]').scrollTop = 0")
            expect(page.locator("[data-seq='1']")).to_be_in_viewport()
            page.evaluate(SAY, [121, 125])
            expect(pill).to_have_text("5 new lines")
            expect(page.locator("[data-seq='1']")).to_be_in_viewport()
            pill.click()
            expect(page.locator("[data-seq='125']")).to_be_in_viewport()
            expect(pill).to_contain_text("Following")


class TestRequests:
    def test_a_failed_refresh_keeps_what_is_shown_and_tells(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            watched.page.locator("#kept").click()
            watched.page.locator(".rl-toast").wait_for()
            assert watched.page.locator("#kept").inner_text() == "kept"

    def test_a_write_carries_the_form_token(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            token = watched.page.locator("meta[name='csrf-token']").get_attribute("content")
            watched.page.locator("#echo").click()
            watched.page.locator("#echo b").wait_for()
            assert watched.page.locator("#echo").inner_text() == token


class TestDialog:
    def test_the_button_works_only_once_the_name_is_typed(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/live") as watched:
            watched.page.get_by_role("button", name="Remove", exact=True).click()
            confirm = watched.page.get_by_role("button", name="Remove fra1")
            assert confirm.is_disabled()
            watched.page.locator("#remove-typed").fill("fra")
            assert watched.page.locator("#remove-why").inner_text() == "Not the name yet"
            watched.page.locator("#remove-typed").fill("fra1")
            assert confirm.is_enabled()


class TestKeys:
    def test_slash_goes_to_the_search_field(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/nodes") as watched:
            watched.page.keyboard.press("/")
            assert watched.page.evaluate("document.activeElement.name") == "q"

    def test_g_and_a_letter_opens_a_page(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/node") as watched:
            watched.page.keyboard.press("g")
            watched.page.keyboard.press("n")
            watched.page.wait_for_url("**/nodes")

    def test_question_mark_opens_the_help(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/nodes") as watched:
            watched.page.keyboard.press("?")
            assert watched.page.locator("#rl-keys").is_visible()


class TestPreferences:
    def test_the_theme_changes_at_once_and_stays(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/nodes") as watched:
            page = watched.page
            page.get_by_role("button", name="Theme").click()
            with page.expect_response("**/preferences"):
                page.get_by_role("button", name="Dark").click()
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
            page.reload()
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(11, 15, 18)"

    def test_the_language_changes_the_whole_page(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/nodes") as watched:
            watched.page.get_by_role("button", name="Language").click()
            watched.page.get_by_role("button", name="简体中文").click()
            watched.page.locator("html[lang=zh-Hans]").wait_for()
