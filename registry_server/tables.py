"""The declarative base of this service's tables, and the fast roads to them.

A small sync has some twenty statements. Through a session each takes several turns between the event loop and
the thread of SQLite's connection, and those turns, not the statements, were most of such a sync: here they
are carried out at once. What is more is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import JSON, ColumnElement, Index, bindparam, func, insert, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase

from shared.database import ANNOTATIONS, new_metadata, refusal_of
from shared.database.errors import is_unavailable_by_driver
from shared.database.migrations import ONLY_ON

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import ColumnElement, Dialect, Executable, Table

    Convert = Callable[[Any], Any]

Result = TypeVar("Result")
Row = Sequence[Any]
#: Every SQLite takes so many in one statement.
_PARAMETERS = 999
_LITERALS = {None: "NULL", False: "FALSE", True: "TRUE"}


class Base(DeclarativeBase):
    """Every table of registry_server."""

    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS


def trigrams(name: str, column: str) -> Index:
    """An index for searches inside a text, on PostgreSQL alone.

    Not of a column that is also looked up whole: PostgreSQL takes this index for equality as well, which
    costs milliseconds a name where a plain index costs microseconds.
    """
    operators = {column: "gin_trgm_ops"}
    return Index(
        name, column, postgresql_using="gin", postgresql_ops=operators, info={ONLY_ON: "postgresql"}
    ).ddl_if(dialect="postgresql")


class Part(NamedTuple):
    """Rows for one table."""

    model: type[DeclarativeBase]
    #: One row after the other, without the columns that are alike in all.
    values: Sequence[Any]
    #: Those columns, and what they hold.
    alike: Mapping[str, bool | None] = MappingProxyType({})

    @property
    def columns(self) -> list[str]:
        """In the order of the model, those that are alike at the end."""
        named = [column.name for column in self.model.__table__.columns]
        return [name for name in named if name not in self.alike] + list(self.alike)

    @property
    def width(self) -> int:
        """How many of the values make a row."""
        return len(self.model.__table__.columns) - len(self.alike)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Each row with all of its columns."""
        return zip(*[iter(self.values)] * self.width, *map(repeat, self.alike.values()), strict=False)


async def insert_rows(session: AsyncSession, parts: Sequence[Part]) -> None:
    """Insert many rows: by COPY on PostgreSQL.

    The session has already written in this transaction: COPY goes past the driver's wrapper, which begins a
    transaction at the first statement only.
    """
    connection = await session.connection()
    if connection.dialect.name != "postgresql":
        await carry_out(session, lambda _: _insert_blocks(parts))
        return
    driver: Any = (await connection.get_raw_connection()).driver_connection
    for part in parts:
        if part.values:
            columns = [column.name for column in part.model.__table__.columns]
            await driver.copy_records_to_table(part.model.__tablename__, records=part.rows(), columns=columns)


class Ask(NamedTuple):
    """A statement with its values; with `rows`, once for each of them and without an answer."""

    text: str
    values: Sequence[Any] = ()
    rows: Sequence[Row] | None = None


#: Asks, is sent the rows of each answer, and ends with a result.
Work = Generator[Ask, Any, Result]


def _insert_blocks(parts: Sequence[Part]) -> Work[None]:
    """Many rows a statement, then the rest one by one: a step of SQLite's costs more than a row."""
    for part in parts:
        values, width = part.values, part.width
        named = ", ".join(f'"{name}"' for name in part.columns)
        row = f"({', '.join(['?'] * width + [_LITERALS[each] for each in part.alike.values()])})"
        size = _PARAMETERS // width
        block, whole = size * width, len(values) // (size * width) * size * width
        insert = f"INSERT INTO {part.model.__tablename__} ({named}) VALUES "  # noqa: S608 - names of ours
        if whole:
            blocks = [values[at : at + block] for at in range(0, whole, block)]
            yield Ask(insert + ", ".join([row] * size), rows=blocks)
        if whole < len(values):
            rest = [values[at : at + width] for at in range(whole, len(values), width)]
            yield Ask(insert + row, rows=rest)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as the driver of one database takes it."""

    text: str
    #: Name, conversion, and the value of what the statement itself says.
    parameters: Sequence[tuple[str, Convert | None, Any]]

    def ask(self, values: Mapping[str, Any] | None = None) -> Ask:
        """With the values by name."""
        given = values or {}
        found = [(given[name] if own is None else own, convert) for name, convert, own in self.parameters]
        return Ask(self.text, [value if convert is None else convert(value) for value, convert in found])

    def ask_each(self, rows: Sequence[Row]) -> Ask:
        """Once for each row of values, which are in order and as the driver takes them."""
        return Ask(self.text, rows=rows)


def once_for_each_database(build: Callable[[Dialect], Result]) -> Callable[[Dialect], Result]:
    """Have what is built of statements built once in a process, whatever the number of engines."""
    built: dict[str, Result] = {}

    @wraps(build)
    def found(dialect: Dialect) -> Result:
        if dialect.name not in built:
            built[dialect.name] = build(dialect)
        return built[dialect.name]

    return found


def prepare(statement: Executable, dialect: Dialect) -> Statement:
    """Compile a statement whose values that differ are named parameters."""
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    return Statement(
        compiled.string,
        [
            (name, bind.type.dialect_impl(dialect).bind_processor(dialect), bind.value)
            for name in compiled.positiontup
            for bind in (compiled.binds[name],)
        ],
    )


def insertion(table: Table, dialect: Dialect) -> Statement:
    """Insert rows that have a value for every column in the order of the table."""
    return prepare(insert(table), dialect)


def among(column: ColumnElement[Any], name: str, dialect: Dialect) -> ColumnElement[bool]:
    """Whether the column is one of a list that is one parameter: the text is the same for every length."""
    if dialect.name == "postgresql":
        return column == func.any(bindparam(name, type_=ARRAY(column.type)))
    each = func.json_each(bindparam(name, type_=JSON())).table_valued("value")
    return column.in_(select(each.c.value))


async def carry_out(session: AsyncSession, work: Callable[[Dialect], Work[Result]]) -> Result:
    """Do the work inside the session's transaction, in which a statement of the session's own was first.

    On PostgreSQL the transaction begins with that one. Fails as the session's own statements do.
    """
    connection = await session.connection()
    dialect = connection.dialect
    driver: Any = (await connection.get_raw_connection()).driver_connection
    going = work(dialect)
    try:
        if dialect.name == "sqlite":
            # The driver's own way into its thread, where what comes later, a rollback too, waits its turn.
            done: Result = await driver._execute(_in_one_visit, driver._conn, going)  # noqa: SLF001
            return done
        return await _one_by_one(driver, going)
    except Exception as error:
        if hasattr(error, "sqlite_errorcode") or hasattr(error, "sqlstate"):
            raise DBAPIError(None, None, error) from error
        if dialect.name == "postgresql" and is_unavailable_by_driver(error):
            raise refusal_of(error) from error
        raise


def _in_one_visit(connection: sqlite3.Connection, going: Work[Result]) -> Result:
    answer: Sequence[Row] | None = None
    try:
        while True:
            asked = going.send(answer)
            if asked.rows is not None:
                connection.executemany(asked.text, asked.rows)
                answer = ()
            else:
                answer = connection.execute(asked.text, asked.values).fetchall()
    except StopIteration as ended:
        result: Result = ended.value
        return result


async def _one_by_one(driver: Any, going: Work[Result]) -> Result:
    answer: Sequence[Row] | None = None
    try:
        while True:
            asked = going.send(answer)
            if asked.rows is not None:
                await driver.executemany(asked.text, asked.rows)
                answer = ()
            else:
                answer = await driver.fetch(asked.text, *asked.values)
    except StopIteration as ended:
        result: Result = ended.value
        return result
