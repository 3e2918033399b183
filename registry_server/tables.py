"""The declarative base of this service's tables, and the fastest road into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase

from shared.database import ANNOTATIONS, new_metadata


class Base(DeclarativeBase):
    """Every table of registry_server."""

    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS


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
    named = ", ".join(f'"{name}"' for name in columns)
    places = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {model.__tablename__} ({named}) VALUES ({places})"  # noqa: S608
    await connection.exec_driver_sql(statement, [tuple(row) for row in rows])
