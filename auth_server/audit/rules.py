"""Cursors of the audit trail."""

from __future__ import annotations

import base64
import binascii

from shared.kernel.errors import FieldError, InvalidInput


def encode_cursor(ident: int) -> str:
    """A cursor that names one event."""
    return base64.urlsafe_b64encode(str(ident).encode()).decode().rstrip("=")


def decode_cursor(text: str) -> int:
    """The event of a cursor. Raises InvalidInput."""
    try:
        return int(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    except (ValueError, binascii.Error):
        refused = FieldError("cursor", "cursor_invalid", "Use the `next` value of an earlier page unchanged.")
        raise InvalidInput("The cursor is not one of ours.", fields=[refused]) from None
