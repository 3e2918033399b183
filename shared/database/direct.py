"""Statements that are a transaction each, handed to PostgreSQL's driver as they are.

A session costs several times what the driver needs, and a transaction around one statement costs two more
round trips. What must be quick is therefore one statement, built once, and no transaction is begun.
Connections come from the engine's own pool, so there are no more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.database.errors import is_unavailable_by_driver, refusal_of

if TYPE_CHECKING:
    from sqlalchemy import Dialect, Executable, PoolProxiedConnection
    from sqlalchemy.ext.asyncio import AsyncEngine
    from sqlalchemy.types import TypeEngine

    Convert = Callable[[Any], Any]


#: A connection that was used so recently is taken for alive.
TRUSTED_SECONDS = 1.0


class _Compiled(NamedTuple):
    """A statement as the driver takes it, and how values go in and come out."""

    text: str
    parameters: Sequence[tuple[str, Convert | None]]
    columns: Sequence[Convert | None]


class _Kept(NamedTuple):
    """A connection that is out of the pool, and when it was used."""

    line: PoolProxiedConnection
    used: float


@dataclass(frozen=True, slots=True)
class Direct:
    """Carries out single statements."""

    engine: AsyncEngine
    #: So many connections are kept out of the pool between two statements: to take one from there and bring
    #: it back takes as long as a statement.
    most_kept: int = 0
    _kept: list[_Kept] = field(default_factory=list, repr=False)
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

    async def close(self) -> None:
        """Give every connection back to the pool."""
        while self._kept:
            self._kept.pop().line.close()

    async def _fetch(self, text: str, arguments: Sequence[Any]) -> Sequence[Any] | None:
        try:
            line = await self._take()
            try:
                driver: Any = line.driver_connection
                found: Sequence[Any] | None = await driver.fetchrow(text, *arguments)
                return found
            finally:
                self._give_back(line)
        except Exception as error:
            if is_unavailable_by_driver(error):
                raise refusal_of(error) from error
            raise

    async def _take(self) -> PoolProxiedConnection:
        """A connection that was used a moment ago, or one of which the pool has made sure that it lives."""
        while self._kept:
            line, used = self._kept.pop()
            if monotonic() - used <= TRUSTED_SECONDS and not _is_closed(line):
                return line
            line.close()
        return await self.engine.raw_connection()

    def _give_back(self, line: PoolProxiedConnection) -> None:
        if len(self._kept) < self.most_kept and not _is_closed(line):
            self._kept.append(_Kept(line, monotonic()))
        else:
            line.close()


def _is_closed(line: PoolProxiedConnection) -> bool:
    driver: Any = line.driver_connection
    return bool(driver.is_closed())


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
