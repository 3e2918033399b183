"""Nobody waits for a load or another server while a connection to a database is held.

Connections are few. Whoever holds one and waits for what needs another takes it from those who would let it
go on: a handful of such requests at once stop each other until all of them are refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from shared.cache.loading import Loader
from shared.database import Database

Opening = Callable[[Database], AbstractAsyncContextManager[AsyncSession]]
_OPEN: ContextVar[tuple[AsyncSession, ...]] = ContextVar("_OPEN", default=())


def _remembered(opening: Opening) -> Opening:
    @asynccontextmanager
    async def opened(database: Database) -> AsyncIterator[AsyncSession]:
        async with opening(database) as session:
            _OPEN.set((*_OPEN.get(), session))
            yield session

    return opened


def _holding_none(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def called(*arguments: Any, **options: Any) -> Any:
        held = [session for session in _OPEN.get() if session.in_transaction()]
        assert not held, f"{method.__qualname__} is waited for by a session that holds a connection"
        return await method(*arguments, **options)

    return called


@contextmanager
def holding_none() -> Iterator[None]:
    """Fail what waits for a load of the cache with a connection in its hands."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("transaction", "reading"):
            patch.setattr(Database, name, _remembered(getattr(Database, name)))
        patch.setattr(Loader, "get_or_load", _holding_none(Loader.get_or_load))
        yield
