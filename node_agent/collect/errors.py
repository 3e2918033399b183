"""What can go wrong with looking."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class TableTooLarge(AppError):
    """BIRD has more routes than this agent reads. Raise ROUTELOOM_AGENT_GREATEST_TABLE."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "table_too_large"
