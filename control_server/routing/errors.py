"""Refusals of routing."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import InvalidInput


class PrefixNotUnderstood(InvalidInput):
    """What was given is no prefix and no address. Write it as 192.0.2.0/24 or 2001:db8::/32."""

    code: ClassVar[str] = "prefix_not_understood"


class ReportNotUnderstood(InvalidInput):
    """The report of routes cannot be read."""

    code: ClassVar[str] = "prefix_report_refused"
