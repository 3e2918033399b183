"""Where a page of a list ended, as an opaque word that fits into a URL."""

from __future__ import annotations

import base64
import binascii
import json

from shared.kernel.errors import FieldError, InvalidInput

Part = str | int
#: What both databases take as a whole number.
_LARGEST = 2**63 - 1


def write_cursor(*parts: Part) -> str:
    """The cursor that names these sort keys."""
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(text: str | None, *kinds: type[Part]) -> list[Part] | None:
    """The sort keys, each of its kind; None without a cursor. Raises InvalidInput."""
    if not text:
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        parts = None
    if not isinstance(parts, list) or not _fits(parts, kinds):
        refused = FieldError("cursor", "cursor_invalid", "Use the `next` value of an earlier page unchanged.")
        raise InvalidInput("The cursor is not one of ours.", fields=[refused])
    return parts


def _fits(parts: list[Part], kinds: tuple[type[Part], ...]) -> bool:
    """PostgreSQL takes neither NUL nor unpaired surrogates."""
    if [type(part) for part in parts] != list(kinds):
        return False
    return all(abs(part) <= _LARGEST if isinstance(part, int) else part.isprintable() for part in parts)
