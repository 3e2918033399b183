"""Cursors of the audit trail, what an act changed, and how it is written in an export."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from shared.kernel.errors import FieldError, InvalidInput
from shared.kernel.spreadsheets import line_of
from shared.web.audit.schemas import AuditEventRead, ExportForm

COLUMNS = tuple(AuditEventRead.model_fields)


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


def changes(before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    """What changed, field by field: name, old value and new value, an empty text for none."""
    old, new = before or {}, after or {}
    names = dict.fromkeys([*old, *new])
    told = [(name, _told(old.get(name)), _told(new.get(name))) for name in names]
    return [entry for entry in told if entry[1] != entry[2]]


def export_head(form: ExportForm) -> str:
    """What stands above the events."""
    return line_of(COLUMNS) if form is ExportForm.CSV else ""


def export_line(event: AuditEventRead, form: ExportForm) -> str:
    """One event with its end of line."""
    if form is ExportForm.JSONL:
        return event.model_dump_json() + "\n"
    values = event.model_dump(mode="json")
    return line_of(values[name] for name in COLUMNS)


def _told(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
