"""The messages of the browser's modules, read out of the modules themselves, so that none is listed twice."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from babel.messages.extract import extract

from shared.web.static_files import STATIC_ROOT

if TYPE_CHECKING:
    from pathlib import Path

#: t("message", values) and tn("one", "many", count, values) in static/js.
SCRIPT_KEYWORDS: dict[str, Any] = {"t": None, "tn": (1, 2)}


@cache
def collect_script_messages(root: Path = STATIC_ROOT / "js") -> list[str | tuple[str, str]]:
    """Every message of the modules below `root`; a pair where it has a plural."""
    messages: list[str | tuple[str, str]] = []
    for path in sorted(root.rglob("*.mjs")):
        with path.open("rb") as file:
            for _, found, _, _ in extract("javascript", file, SCRIPT_KEYWORDS):
                messages.append((found[0], found[1]) if isinstance(found, tuple) else found)
    return messages
