"""Where a sign-in may lead."""

from __future__ import annotations

from urllib.parse import urlsplit


def safe_next(target: str) -> str:
    """The path to go on to, or the front page for anything that could leave this site."""
    parts = urlsplit(target)
    plain = target.isprintable() and "\\" not in target
    if parts.scheme or parts.netloc or not target.startswith("/") or target.startswith("//") or not plain:
        return "/"
    return target
