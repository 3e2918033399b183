"""What every service's declarative base is made of.

A service declares its own base, so that two services in one process never share table names:

    class Base(DeclarativeBase):
        metadata = new_metadata()
        type_annotation_map = ANNOTATIONS
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, MetaData, Text, Uuid

from shared.database.types import JsonValue, UtcDateTime

#: Constraint names that Alembic can name again on both databases.
_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

#: Python annotation to column type. `int` is 64 bits: ASNs do not fit in a signed 32-bit integer.
ANNOTATIONS: dict[Any, Any] = {
    int: BigInteger(),
    str: Text(),
    UUID: Uuid(),
    datetime: UtcDateTime(),
    dict[str, Any]: JsonValue,
    list[str]: JsonValue,
    list[Any]: JsonValue,
}


def new_metadata() -> MetaData:
    """A fresh collection of tables for one service."""
    return MetaData(naming_convention=_NAMES)
