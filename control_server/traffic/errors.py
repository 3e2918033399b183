"""Refusals of traffic."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import NotFound


class LinkUnknown(NotFound):
    """Nothing was ever measured on a link with this name on this node."""

    code: ClassVar[str] = "traffic_link_unknown"
