"""The declarative base of this service's tables, and the fastest road into them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Index
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import DeclarativeBase

from shared.database import ANNOTATIONS, new_metadata
from shared.database.migrations import ONLY_ON

#: Every SQLite takes so many in one statement.
_PARAMETERS = 999


class Base(DeclarativeBase):
    """Every table of registry_server."""

    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS


def trigrams(name: str, column: str) -> Index:
    """An index for searches inside a text, on PostgreSQL alone."""
    operators = {column: "gin_trgm_ops"}
    return Index(
        name, column, postgresql_using="gin", postgresql_ops=operators, info={ONLY_ON: "postgresql"}
    ).ddl_if(dialect="postgresql")


async def insert_rows(
    session: AsyncSession, model: type[DeclarativeBase], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert the rows, each with a value for every column in the order of the model: COPY on PostgreSQL.

    The session has already written in this transaction: COPY goes past the driver's wrapper, which begins a
    transaction at the first statement only.
    """
    if not rows:
        return
    connection = await session.connection()
    columns = [column.name for column in model.__table__.columns]
    if connection.dialect.name == "postgresql":
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await driver.copy_records_to_table(model.__tablename__, records=rows, columns=columns)
        return
    await _insert_blocks(connection, model.__tablename__, columns, rows)


async def _insert_blocks(
    connection: AsyncConnection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Many rows a statement, then the rest one by one: a step of SQLite's costs more than a row."""
    named = ", ".join(f'"{name}"' for name in columns)
    row = f"({', '.join('?' * len(columns))})"
    size = _PARAMETERS // len(columns)
    whole = len(rows) // size * size
    insert = f"INSERT INTO {table} ({named}) VALUES "  # noqa: S608 - names of ours
    if whole:
        blocks = [tuple(chain.from_iterable(rows[at : at + size])) for at in range(0, whole, size)]
        await connection.exec_driver_sql(insert + ", ".join([row] * size), blocks)
    if whole < len(rows):
        await connection.exec_driver_sql(insert + row, [tuple(each) for each in rows[whole:]])
