"""Why the stack does not come up: one sentence each."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class SecretsNotWritable(AppError):
    """The directory of secrets cannot be written."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "secrets_not_writable"


class SecretsUnreadable(AppError):
    """The file of passwords is not what `routeloom stack init` wrote."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "secrets_unreadable"


class StepFailed(AppError):
    """A step of the preparation failed; what it said stands above."""

    kind: ClassVar[Kind] = Kind.UNAVAILABLE
    code: ClassVar[str] = "stack_step_failed"
