"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class HistoryUnknown(AppError):
    """The registry never had such an object, as far as its history goes; check class and spelling."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_history_unknown"


class ChangeUnknown(AppError):
    """The commit did not change this object; its history lists those that did."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_change_unknown"


class HistoryTextUnavailable(AppError):
    """The text of that time cannot be read here now: the mirrored repository is being fetched."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "history_text_unavailable"
