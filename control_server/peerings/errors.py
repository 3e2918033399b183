"""Refusals of peerings and links."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class PeeringNotFound(AppError):
    """There is no such peering."""

    kind: ClassVar[Kind] = Kind.MISSING
    code: ClassVar[str] = "peering_not_found"


class PeeringExists(AppError):
    """The node has a peering of this name already; choose another name."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "peering_exists"


class LinkNotFound(AppError):
    """There is no such link."""

    kind: ClassVar[Kind] = Kind.MISSING
    code: ClassVar[str] = "link_not_found"


class LinkExists(AppError):
    """These two nodes are linked already."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "link_exists"


class NodeRoutesNothing(AppError):
    """The node routes nothing: it has no AS number yet, or it is decommissioned."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "node_routes_nothing"


class NodeKeyUnknown(AppError):
    """The node's agent has told no key yet to seal secrets to; connect the agent first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "node_key_unknown"
