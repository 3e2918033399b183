"""Refusals of facts that several people write."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from pydantic import BaseModel

from shared.kernel.errors import AppError, Kind, Unavailable


class VersionMissing(AppError):
    """Read it first, then send the `ETag` of that answer as `If-Match`, so that nobody's change is lost."""

    kind: ClassVar[Kind] = Kind.PRECONDITION
    code: ClassVar[str] = "version_missing"

    @classmethod
    def of(cls, read_at: str) -> VersionMissing:
        """The refusal with the header that is missing, and with where its value is read."""
        detail = (
            f'Send `If-Match` with the `ETag` that `GET {read_at}` answers, such as `If-Match: "3"`, so that'
            " nobody's change is lost."
        )
        return cls(detail, members={"header": "If-Match", "read_at": read_at})


class FactChanged(AppError):
    """Somebody has changed this since you read it; look at both versions and decide."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "fact_changed"

    @classmethod
    def between(cls, current: BaseModel, yours: BaseModel) -> FactChanged:
        """The refusal with what is there now, and with what was to be written."""
        return cls(
            members={
                "current": current.model_dump(mode="json"),
                "yours": yours.model_dump(mode="json", exclude_unset=True),
            }
        )


class FactsBusy(Unavailable):
    """Too many people write facts just now. Nothing was changed; try again."""

    code: ClassVar[str] = "facts_busy"

    def __init__(self) -> None:
        """Ask for another try soon."""
        super().__init__(retry_after=timedelta(seconds=5))
