"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar, Self

from shared.kernel.errors import AppError, Kind


class AsnUnknown(AppError):
    """The registry knows no such AS number; `/registry/api/v1/search?q=` finds it by any part."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "asn_unknown"

    @classmethod
    def of(cls, number: int) -> Self:
        """The refusal for this number, with where to ask whether it may be had."""
        return cls(
            f"The registry knows no AS{number}; "
            f"`/registry/api/v1/policy/aut-num/AS{number}` tells who has it to give."
        )


class MntnerUnknown(AppError):
    """The registry knows no such maintainer; `/registry/api/v1/search?class=mntner&q=` finds it by a part."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "mntner_unknown"


class MntnerNotOfAsn(AppError):
    """The maintainer cannot speak for this AS number; `/registry/api/v1/identity/<asn>` lists who can."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "mntner_not_of_asn"


class ObjectClassUnknown(AppError):
    """The registry has no such class of objects; `/registry/api/v1/schema` lists those that there are."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_class_unknown"


class ObjectUnknown(AppError):
    """The registry has no such object; `/registry/api/v1/search?q=` finds it by any part of its key."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "object_unknown"


class AsSetUnknown(AppError):
    """The registry knows no such as-set; `/registry/api/v1/search?class=as-set&q=` finds it by a part."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "as_set_unknown"


class NoConnection(AppError):
    """No chain of at most eight names leads from one object to the other."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "objects_not_connected"
