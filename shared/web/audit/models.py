"""Columns of an audit trail; a service makes its own table of them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Integer
from sqlalchemy.orm import Mapped, mapped_column


class AuditEventColumns:
    """One act. Rows are only ever added: the database itself refuses to change or delete one."""

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            """As the declarative base does it."""

    #: Counts up in the order of writing, which is also the order of pages.
    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    actor_kind: Mapped[str]
    actor_id: Mapped[str] = mapped_column(index=True)
    actor_name: Mapped[str]
    action: Mapped[str] = mapped_column(index=True)
    object_type: Mapped[str]
    object_id: Mapped[str]
    from_address: Mapped[str] = mapped_column(default="")
    request_id: Mapped[str] = mapped_column(default="")
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
