"""Refusals about other networks."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import Unavailable


class RegistryAway(Unavailable):
    """The registry service does not answer, or not with what it should."""

    code: ClassVar[str] = "registry_away"
