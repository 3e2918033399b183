"""Refusals of pools."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class PoolNotFound(AppError):
    """There is no such pool."""

    kind: ClassVar[Kind] = Kind.MISSING
    code: ClassVar[str] = "pool_not_found"


class PoolExists(AppError):
    """A pool of this name exists already; choose another name."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "pool_exists"


class PoolInUse(AppError):
    """Values of this pool are given out; free them first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "pool_in_use"


class PoolExhausted(AppError):
    """Every value of the pool is given out; widen it or free some."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "pool_exhausted"


class ValueTaken(AppError):
    """The value is given out already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "value_taken"
