"""Cursors of the audit trail."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from uuid import UUID

from shared.kernel.errors import FieldError, InvalidInput


def encode_cursor(at: datetime, ident: UUID) -> str:
    """A cursor that names one event."""
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{ident}".encode()).decode().rstrip("=")


def decode_cursor(text: str) -> tuple[datetime, UUID]:
    """The instant and id of a cursor. Raises InvalidInput."""
    try:
        padded = text + "=" * (-len(text) % 4)
        at, _, ident = base64.urlsafe_b64decode(padded).decode().partition("|")
        return datetime.fromisoformat(at), UUID(ident)
    except (ValueError, binascii.Error):
        refused = FieldError("cursor", "cursor_invalid", "Use the `next` value of an earlier page unchanged.")
        raise InvalidInput("The cursor is not one of ours.", fields=[refused]) from None
