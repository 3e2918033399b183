"""How a person wants pages: theme and language, kept in cookies that the server reads before it draws."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

THEME_COOKIE = "rl_theme"


class Theme(StrEnum):
    """Light, dark, or what the system prefers."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def chosen_theme(request: Request) -> Theme:
    """The theme of this browser; anything unknown counts as no choice."""
    value = request.cookies.get(THEME_COOKIE, "")
    return Theme(value) if value in set(Theme) else Theme.SYSTEM
