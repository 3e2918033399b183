"""Refusals of flaps."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class FlapUnknown(AppError):
    """Nothing is known of it: it was never seen on this node, or is long forgotten."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "flap_unknown"


class FlapSteady(AppError):
    """It is stable, so there is nothing to mute."""

    kind: ClassVar = Kind.CONFLICT
    code: ClassVar = "flap_steady"
