"""Background work of sessions."""

from __future__ import annotations

from datetime import timedelta

from auth_server.resources import AuthResources
from auth_server.sessions.repository import SessionRepository
from auth_server.sessions.store import LastUses
from shared.kernel.loops import Loop

#: What is over stays visible in the database for so long.
_KEEP = timedelta(days=7)


def loops(resources: AuthResources) -> list[Loop]:
    """Forgets what was over long ago."""

    async def forget() -> None:
        async with resources.database.transaction() as session:
            await SessionRepository(session).forget_before(resources.now() - _KEEP)

    return [Loop("sessions.forget", forget, interval=timedelta(hours=1))]


def note_uses(resources: AuthResources, last_uses: LastUses) -> Loop:
    """Writes when this process's sessions were last used."""

    async def note() -> None:
        uses = last_uses.take()
        if uses:
            async with resources.database.transaction() as session:
                await SessionRepository(session).touch(uses)

    return Loop("sessions.note_uses", note, interval=timedelta(seconds=30))
