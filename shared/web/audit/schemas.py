"""Wire shapes of the audit trail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

_LENGTH_OF_A_DATE = 10
#: No database here takes U+0000 in a text.
_WITHOUT_ZERO = r"^[^\x00]*$"


def _nothing_as_none(value: object) -> object:
    """A form sends an empty text for a field that nobody filled in."""
    return value or None


def _whole_day(value: object) -> object:
    """A date as an end means all of that day."""
    if isinstance(value, str) and len(value) == _LENGTH_OF_A_DATE:
        return datetime.fromisoformat(value) + timedelta(days=1)
    return value or None


def _in_utc(value: datetime | None) -> datetime | None:
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


_Since = Annotated[datetime | None, BeforeValidator(_nothing_as_none), AfterValidator(_in_utc)]
_Until = Annotated[datetime | None, BeforeValidator(_whole_day), AfterValidator(_in_utc)]

_Short = Annotated[str, Field(max_length=64, pattern=_WITHOUT_ZERO)]
_Long = Annotated[str, Field(max_length=128, pattern=_WITHOUT_ZERO)]


class AuditFilter(BaseModel):
    """Which events to show; everything is optional."""

    actor: _Long = Field(default="", description="Id or name of the actor")
    action: _Short = Field(default="", description="Action, or its beginning, such as `session.`")
    object_type: _Short = ""
    object_id: _Long = ""
    since: _Since = Field(default=None, description="Instant, by default in UTC, or date")
    until: _Until = Field(default=None, description="Before this instant, or to the end of this date")


class AuditEventRead(BaseModel):
    """One act."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    at: datetime
    actor_kind: str
    actor_id: str
    actor_name: str
    action: str
    object_type: str
    object_id: str
    from_address: str
    request_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class AuditPage(BaseModel):
    """Newest first; `next` asks for the following page."""

    items: list[AuditEventRead]
    next: str | None = Field(default=None, description="Give as `cursor` to go on; null at the end")


class ExportForm(StrEnum):
    """How an export is written."""

    CSV = "csv"
    JSONL = "jsonl"
