"""Refusals around background jobs."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class QueueNotFound(AppError):
    """There is no such queue."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "job_queue_unknown"


class JobKindNotFound(AppError):
    """No job of this kind can be started by hand."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "job_kind_unknown"


class JobsUnavailable(AppError):
    """The store of background jobs does not answer. Nothing is lost; try again."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "jobs_unavailable"


class RegistrySyncFailed(AppError):
    """The registry service did not carry out the sync."""

    kind: ClassVar = Kind.UNAVAILABLE
    code: ClassVar = "job_registry_sync_failed"
