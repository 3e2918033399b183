"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class SchemaNotReady(AppError):
    """The registry was not read yet, so nothing can be judged by it; ask again after the first sync."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "registry_schema_not_ready"
