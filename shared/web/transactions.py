"""The request's database session.

`Session` writes on unsafe methods and reads on safe ones. It is closed, and committed, before the response
is sent (`scope="function"`): a failed commit answers 500 or 503, never 201, and a stream does not hold it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from shared.database import Database

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


async def _session(request: Request) -> AsyncIterator[AsyncSession]:
    database: Database = request.app.state.resources.database
    begin = database.reading if request.method in _SAFE else database.transaction
    async with begin() as session:
        yield session


Session = Annotated[AsyncSession, Depends(_session, scope="function")]
