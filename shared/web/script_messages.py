"""The messages of the browser's modules, read out of the modules themselves, so that none is listed twice."""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from shared.web.prepared import prepared
from shared.web.static_files import STATIC_ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MODULES = STATIC_ROOT / "js"
#: t("message", values) and tn("one", "many", count, values) in static/js.
SCRIPT_KEYWORDS: dict[str, Any] = {"t": None, "tn": (1, 2)}


@cache
def collect_script_messages(root: Path = _MODULES) -> list[str | tuple[str, str]]:
    """Every message of the modules below `root`; a pair where it has a plural."""
    sources = script_sources(root)
    listed = json.loads(prepared(b"\0".join(sources), "json", lambda: listed_messages(sources)))
    return [message if isinstance(message, str) else (message[0], message[1]) for message in listed]


def script_sources(root: Path = _MODULES) -> list[bytes]:
    """The modules, in the order of their names."""
    return [path.read_bytes() for path in sorted(root.rglob("*.mjs"))]


def listed_messages(sources: Sequence[bytes]) -> bytes:
    """The messages in them, as JSON."""
    from babel.messages.extract import extract  # noqa: PLC0415 - a start has no need of it

    found = [
        message
        for source in sources
        for _, message, _, _ in extract("javascript", BytesIO(source), SCRIPT_KEYWORDS)
    ]
    return json.dumps(found, ensure_ascii=False).encode()
