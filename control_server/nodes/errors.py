"""Refusals about nodes."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound


class NodeNotFound(NotFound):
    """No node has this id."""

    code: ClassVar[str] = "node_not_found"


class NodeExists(AppError):
    """A node with this id exists already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "node_exists"


class RollbackRefused(AppError):
    """A rollback neither brings a decommissioned node back nor decommissions one; do that by itself first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "rollback_refused"


class NodeInUse(AppError):
    """The node cannot be removed yet."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "node_in_use"
