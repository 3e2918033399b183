"""Charts: drawn from their tables, which stay; and lines without axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from shared.web.charts import spark
from tests.unit.shared.web.pages.conftest import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PIXELS = "all => all.map(e => e.toDataURL())"


class TestSpark:
    def test_puts_zero_at_the_bottom_and_the_greatest_value_at_the_top(self) -> None:
        assert spark([0, 10], None, 12, 20) == ["1.0,19.0 11.0,1.0"]

    def test_breaks_the_line_where_a_value_is_missing(self) -> None:
        assert spark([1, 1, None, 1, 1], None, 10, 20) == ["1.0,1.0 3.0,1.0", "7.0,1.0 9.0,1.0"]

    def test_shows_a_value_between_two_gaps(self) -> None:
        assert spark([None, 4, None], None, 12, 20) == ["6.0,1.0 7.0,1.0"]

    def test_shares_the_scale_of_a_column(self) -> None:
        assert spark([5, 5], 10, 12, 20) == ["1.0,10.0 11.0,10.0"]

    def test_of_nothing_is_nothing(self) -> None:
        assert spark([], None, 12, 20) == []


@pytest.mark.browser
class TestChart:
    def test_is_drawn_under_the_policy_and_keeps_its_table(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/charts") as watched:
            expect(watched.page.locator("#traffic canvas")).to_be_visible()
            assert watched.page.locator("#traffic tbody tr").count() == 120
            assert watched.page.locator("#traffic tbody td").nth(2).text_content() == "700 Mbit/s"
            assert watched.complaints == []

    def test_opens_and_closes_every_table_with_one_key(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/charts") as watched:
            table = watched.page.locator("#score-table tbody tr").first
            expect(watched.page.locator("#score canvas")).to_be_visible()
            expect(table).to_be_hidden()
            watched.page.keyboard.press("t")
            expect(table).to_be_visible()
            watched.page.keyboard.press("t")
            expect(table).to_be_hidden()

    def test_tells_what_the_pointer_stands_on(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/charts") as watched:
            over = watched.page.locator("#traffic .u-over")
            over.hover()
            expect(watched.page.locator("#traffic .rl-chart-tip")).to_contain_text("Gbit/s")

    def test_says_that_nothing_is_known_where_there_is_a_gap(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/charts") as watched:
            over = watched.page.locator("#traffic .u-over")
            box = over.bounding_box()
            assert box is not None
            over.hover(position={"x": box["width"] * 36 / 119, "y": box["height"] / 2})
            expect(watched.page.locator("#traffic .rl-chart-tip")).to_contain_text("no data")

    def test_is_drawn_again_in_the_colours_of_another_theme(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/charts", color_scheme="light") as watched:
            expect(watched.page.locator("#score canvas")).to_be_visible()
            light = watched.page.locator("canvas").evaluate_all(_PIXELS)
            watched.page.emulate_media(color_scheme="dark")
            expect(watched.page.locator("#score canvas")).to_be_visible()
            watched.page.wait_for_function(
                "before => document.querySelector('#score canvas').toDataURL() !== before", arg=light[1]
            )

    def test_leaves_the_table_where_drawing_fails(self, browser: Browser, gallery: str) -> None:
        with opened(browser, f"{gallery}/nodes") as watched:
            watched.page.route("**/uPlot.iife.min.js", lambda route: route.abort())
            watched.page.goto(f"{gallery}/charts")
            watched.page.locator("#traffic summary").click()
            expect(watched.page.locator("#traffic tbody tr").first).to_be_visible()
