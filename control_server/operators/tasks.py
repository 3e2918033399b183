"""Background work of the portal's sign-in."""

from __future__ import annotations

from datetime import timedelta

from control_server.operators.repository import OperatorRepository
from control_server.resources import ControlResources
from shared.kernel.loops import Loop

#: Ended sessions stay visible for so long.
_KEEP = timedelta(days=7)


def loops(resources: ControlResources) -> list[Loop]:
    """Forgets what ended long ago."""

    async def forget() -> None:
        async with resources.database.transaction() as session:
            operators = OperatorRepository(session)
            await operators.forget_before(resources.now() - _KEEP)
            await operators.forget_spent(resources.now())

    return [Loop("operators.forget", forget, interval=timedelta(hours=1))]
