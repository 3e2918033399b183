"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class RdapNotFound(AppError):
    """The registry has no such object."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "rdap_not_found"


class RdapInvalid(AppError):
    """The question is not a number, an address or a name of this kind."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "rdap_invalid"
