"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class AsnUnknown(AppError):
    """The registry knows no such AS number."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "asn_unknown"


class MntnerUnknown(AppError):
    """The registry knows no such maintainer."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "mntner_unknown"


class MntnerNotOfAsn(AppError):
    """The maintainer cannot speak for this AS number."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "mntner_not_of_asn"


class ObjectClassUnknown(AppError):
    """The registry has no such class of objects."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_class_unknown"


class ObjectUnknown(AppError):
    """The registry has no such object."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_unknown"


class AsSetUnknown(AppError):
    """The registry knows no such as-set."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "as_set_unknown"
