"""Lines of comma-separated values that a spreadsheet can be trusted with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

#: A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def line_of(values: Iterable[Any]) -> str:
    """One line with its end: texts as they are, nothing for None, all else as JSON."""
    written = io.StringIO()
    csv.writer(written).writerow([_cell(value) for value in values])
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        # Not a formula, and quoted where it has commas: a number stays one, even below zero.
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"'{value}" if value.startswith(_FORMULA) else value
