"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

#: JSON documents; `jsonb` on PostgreSQL.
JsonValue = JSON().with_variant(JSONB(), "postgresql")


class SpelledJson(TypeDecorator[str]):
    """A JSON document that is text already: it goes to the database as it is, not through another encoder."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """`jsonb` on PostgreSQL, as the column has it."""
        return dialect.type_descriptor(JSONB() if dialect.name == "postgresql" else JSON())

    def bind_processor(self, dialect: Dialect) -> None:
        """Nothing: the implementing type's own processor is what would encode the text once more."""
        del dialect


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: refuses naive values on the way in, answers UTC on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn into UTC; SQLite stores it without the offset so that texts sort as instants."""
        if value is None:
            return None
        if value.tzinfo is None:
            message = "an instant needs a time zone"
            raise ValueError(message)
        instant = value.astimezone(UTC)
        return instant.replace(tzinfo=None) if dialect.name == "sqlite" else instant

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Attach UTC again where the database does not keep it."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        """Compare instants as instants."""
        del op, value
        return self
