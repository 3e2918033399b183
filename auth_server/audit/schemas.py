"""Wire shapes of the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: No database here takes U+0000 in a text.
_WITHOUT_ZERO = r"^[^\x00]*$"


class AuditFilter(BaseModel):
    """Which events to show; everything is optional."""

    actor: str = Field(default="", max_length=128, pattern=_WITHOUT_ZERO, description="Id of the actor")
    action: str = Field(
        default="",
        max_length=64,
        pattern=_WITHOUT_ZERO,
        description="Action, or its beginning, such as `session.`",
    )
    object_type: str = Field(default="", max_length=64, pattern=_WITHOUT_ZERO)
    object_id: str = Field(default="", max_length=128, pattern=_WITHOUT_ZERO)


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
