"""One request, frame or job is one transaction, opened and committed here and nowhere else."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from shared.database.errors import TextRefused, is_refused_text, is_unavailable, refusal_of
from shared.kernel.errors import AppError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

_AFTER_COMMIT = "routeloom.after_commit"


def after_commit(session: AsyncSession, act: Callable[[], Awaitable[None]]) -> None:
    """Do this once the transaction is committed, and not at all if it is rolled back.

    For what others may only see when it is true: doorbells, events, cache invalidation. It runs before
    the response is sent, so it must be quick; what must not be lost is an outbox row instead.
    """
    session.info.setdefault(_AFTER_COMMIT, []).append(act)


def forget_after_commit(session: AsyncSession) -> None:
    """What was to follow the commit follows no more, because what it was about is undone."""
    session.info.pop(_AFTER_COMMIT, None)


@asynccontextmanager
async def transaction(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[AsyncSession]:
    """Commit at the end of the body; roll back on an error, save for a refusal that must be stored.

    Raises DatabaseUnavailable where the database is away, full or busy.
    """
    try:
        async with sessions() as session:
            try:
                yield session
            except AppError as refusal:
                if not refusal.rolls_back:
                    await _commit(session)
                raise
            await _commit(session)
    except Exception as error:
        if is_unavailable(error):
            raise refusal_of(error) from error
        if is_refused_text(error):
            raise TextRefused from error
        raise


async def _commit(session: AsyncSession) -> None:
    # A session that nothing was asked of has nothing to commit, and no connection to do it on.
    if session.in_transaction():
        await session.commit()
    for act in session.info.pop(_AFTER_COMMIT, []):
        await act()
