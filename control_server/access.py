"""Finds the caller of a request: a bearer token, else the session cookie of a browser."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import ApiTokenService
from control_server.audit.dependencies import audit_service
from control_server.operators.dependencies import SESSION_COOKIE
from control_server.operators.repository import OperatorRepository
from control_server.operators.service import OperatorService
from control_server.resources import ControlResources
from shared.kernel.errors import Unauthenticated
from shared.kernel.principal import Principal


@dataclass(frozen=True, slots=True)
class ControlAuthenticator:
    """The one way into control_server."""

    resources: ControlResources

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        """The caller. A credential that is not good is refused, never ignored."""
        authorization = connection.headers.get("authorization")
        if authorization is not None:
            return await self._bearer(authorization)
        cookie = connection.cookies.get(SESSION_COOKIE)
        return await self._browser(cookie) if cookie else None

    async def _bearer(self, authorization: str) -> Principal:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("Only `Authorization: Bearer` is understood here.")
        async with self.resources.database.reading() as session:
            tokens = ApiTokenService(ApiTokenRepository(session), self.resources.now)
            return await tokens.authenticate(token.strip())

    async def _browser(self, cookie: str) -> Principal | None:
        resources = self.resources
        async with resources.database.reading() as session:
            found = await self._operators(session).find(cookie)
        if found is None:
            return None
        who, due = found
        if due:
            async with resources.database.transaction() as session:
                await self._operators(session).touch(cookie)
        return who

    def _operators(self, session: AsyncSession) -> OperatorService:
        resources = self.resources
        audit = audit_service(session, resources.now)
        return OperatorService(OperatorRepository(session), audit, resources.settings.sessions, resources.now)
