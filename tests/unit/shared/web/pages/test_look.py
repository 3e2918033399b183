"""The look: contrast of the tokens, and every sample in the browser: no complaint, no sideways scroll."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from shared.web.static_files import STATIC_ROOT
from tests.unit.shared.web.pages.conftest import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_TOKEN = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
TOKENS = {
    name: (light, dark)
    for name, light, dark in _TOKEN.findall((STATIC_ROOT / "css" / "tokens.css").read_text(encoding="utf-8"))
}
STATES = ("ok", "warn", "down", "unknown", "maint")
GROUNDS = ("canvas", "surface", "sunken", "hover", "inset")
TEXT_PAIRS = [
    *[(text, ground) for text in ("ink", "ink-2", "ink-3", "brand", *STATES) for ground in GROUNDS],
    *[(state, f"{state}-soft") for state in STATES],
    *[("ink-2", f"{state}-soft") for state in STATES],
    ("brand", "brand-soft"),
    ("on-brand", "brand-fill"),
    ("on-down", "down-fill"),
    ("ink-3", "term"),
    ("brand", "term"),
    ("warn", "term"),
]
GRAPHIC_PAIRS = [
    *[(f"{state}-graphic", "surface") for state in STATES],
    ("control", "surface"),
    ("brand-graphic", "surface"),
]
SAMPLES = ("nodes", "node", "probe", "parts", "charts", "sign-in", "errors/404/not_found")


def _luminance(colour: str) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
class TestTokens:
    def test_text_can_be_read_on_every_ground(self, theme: int) -> None:
        weak = {
            pair: round(ratio, 2)
            for pair in TEXT_PAIRS
            if (ratio := contrast(TOKENS[pair[0]][theme], TOKENS[pair[1]][theme])) < 4.5
        }
        assert not weak

    def test_shapes_and_controls_stand_out(self, theme: int) -> None:
        weak = {
            pair: round(ratio, 2)
            for pair in GRAPHIC_PAIRS
            if (ratio := contrast(TOKENS[pair[0]][theme], TOKENS[pair[1]][theme])) < 3
        }
        assert not weak


@pytest.mark.browser
class TestSamples:
    @pytest.mark.parametrize(
        ("width", "theme", "language"), [(360, "dark", "zh-CN"), (1440, "light", "en-GB")]
    )
    def test_every_page_fits_and_breaks_no_policy(
        self, browser: Browser, gallery: str, width: int, theme: str, language: str
    ) -> None:
        for name in SAMPLES:
            with opened(browser, f"{gallery}/{name}", width, color_scheme=theme, locale=language) as watched:
                wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert watched.page.evaluate(wide) == 0, name
                assert [text for text in watched.complaints if "404" not in text] == [], name
                ground = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert ground == ("rgb(11, 15, 18)" if theme == "dark" else "rgb(244, 246, 247)")
