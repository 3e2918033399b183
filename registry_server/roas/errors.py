"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class RoasNotReady(AppError):
    """There was no sync yet from which ROAs could be derived."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "roas_not_ready"


class RoasStale(AppError):
    """The registry was not seen for too long, so that no ROAs are given out."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "roas_stale"
