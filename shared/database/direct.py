"""Statements that are a transaction each, handed to PostgreSQL's driver as they are.

A session costs several times what the driver needs, and a transaction around one statement costs two more
round trips. What must be quick is therefore one statement, built once, and no transaction is begun.
Connections come from the engine's own pool, so there are no more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.database.errors import DatabaseUnavailable, is_unavailable_by_driver

if TYPE_CHECKING:
    from sqlalchemy import Dialect, Executable
    from sqlalchemy.ext.asyncio import AsyncEngine
    from sqlalchemy.types import TypeEngine

    Convert = Callable[[Any], Any]


class _Compiled(NamedTuple):
    """A statement as the driver takes it, and how values go in and come out."""

    text: str
    parameters: Sequence[tuple[str, Convert | None]]
    columns: Sequence[Convert | None]


@dataclass(frozen=True, slots=True)
class Direct:
    """Carries out single statements."""

    engine: AsyncEngine
    #: By the statement itself: statements are made once, where modules are loaded.
    _compiled: dict[Executable, _Compiled] = field(default_factory=dict, repr=False)

    async def first(self, statement: Executable, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The first row; what the statement changes is committed. Raises DatabaseUnavailable."""
        compiled = self._compiled.get(statement)
        if compiled is None:
            compiled = self._compiled[statement] = _compile(statement, self.engine.dialect)
        arguments = [
            values[name] if convert is None else convert(values[name])
            for name, convert in compiled.parameters
        ]
        found = await self._fetch(compiled.text, arguments)
        if found is None:
            return None
        pairs = zip(found, compiled.columns, strict=True)
        return tuple(value if convert is None else convert(value) for value, convert in pairs)

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Any] | None:
        try:
            connection = await self.engine.raw_connection()
            try:
                driver: Any = connection.driver_connection
                found: Sequence[Any] | None = await driver.fetchrow(text, *arguments)
                return found
            finally:
                connection.close()
        except Exception as error:
            if is_unavailable_by_driver(error):
                raise DatabaseUnavailable from error
            raise


def _compile(statement: Any, dialect: Dialect) -> _Compiled:
    compiled = statement.compile(dialect=dialect)
    names = compiled.positiontup
    unbound = {name for name in names if compiled.binds[name].value is not None}
    assert not unbound, unbound  # noqa: S101 - every value is an argument, or the text would be another
    return _Compiled(
        compiled.string,
        [(name, _into(compiled.binds[name].type, dialect)) for name in names],
        [_out_of(column.type, dialect) for column in statement.selected_columns],
    )


def _into(of: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return of.dialect_impl(dialect).bind_processor(dialect)


def _out_of(of: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return of.dialect_impl(dialect).result_processor(dialect, None)
