"""Background work of the authorization endpoint."""

from __future__ import annotations

from auth_server.authorization.repository import AuthorizationRepository
from auth_server.authorization.rules import PUSHED_LIFE
from auth_server.resources import AuthResources
from shared.kernel.loops import Loop


def loops(resources: AuthResources) -> list[Loop]:
    """Forgets questions that nobody answered, and requests that nobody came for."""

    async def forget() -> None:
        async with resources.database.transaction() as session:
            requests = AuthorizationRepository(session)
            await requests.forget_requests_before(resources.now())
            await requests.forget_pushed_before(resources.now())

    return [Loop("authorization.forget", forget, interval=PUSHED_LIFE)]
