"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class QueryRefused(AppError):
    """The whois query is not one that this server understands."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "whois_query_refused"


class AnswerTooLarge(AppError):
    """The answer to the whois query would be too large."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "whois_answer_too_large"
