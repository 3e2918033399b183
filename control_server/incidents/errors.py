"""Refusals around incidents."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class IncidentUnknown(AppError):
    """There is no such incident; old ones are forgotten."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "incident_unknown"
