"""Finds the caller of a request: a bearer token, else the session cookie of a browser."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from control_server.api_tokens.dependencies import token_gate
from control_server.api_tokens.rules import source_of
from control_server.api_tokens.service import TokenGate
from control_server.audit.dependencies import audit_service
from control_server.keys import SIGN_IN_FAILURES
from control_server.operators.dependencies import SESSION_COOKIE
from control_server.operators.repository import OperatorRepository
from control_server.operators.schemas import SignedInBrowser
from control_server.operators.service import AccessTokens, OperatorService, Provider, ShownProof, Standing
from control_server.operators.store import SeenProofs
from control_server.resources import ControlResources
from shared.cache.throttling import BearerThrottle
from shared.kernel.errors import Unauthenticated
from shared.kernel.principal import Principal

#: Our own opaque tokens have none.
_DOTS_OF_A_JWT = 2


@dataclass(frozen=True, slots=True)
class ControlAuthenticator:
    """The one way into control_server."""

    resources: ControlResources
    gate: TokenGate = field(init=False)
    access_tokens: AccessTokens = field(init=False)
    standing: Standing = field(init=False)
    throttle: BearerThrottle = field(init=False)

    def __post_init__(self) -> None:
        """One gate for the life of the process, because it remembers when not to ask the limits' store."""
        resources = self.resources
        object.__setattr__(self, "gate", token_gate(resources))
        provider = Provider(resources.settings, resources.http, resources.now)
        tokens = AccessTokens(provider, resources.now, SeenProofs(resources.kv))
        object.__setattr__(self, "access_tokens", tokens)
        object.__setattr__(self, "standing", Standing(provider, resources.now))
        limit = resources.settings.sign_in.refusals_per_address
        throttle = BearerThrottle.on(resources.kv, SIGN_IN_FAILURES, resources.now, limit)
        object.__setattr__(self, "throttle", throttle)

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        """The caller. A credential that is not good is refused, never ignored."""
        authorization = connection.headers.get("authorization")
        if authorization is not None:
            address = connection.client.host if connection.client else ""
            return await self._bearer(connection, authorization, address)
        cookie = connection.cookies.get(SESSION_COOKIE)
        found = await self._browser(cookie) if cookie else None
        connection.state.by_session = found is not None
        connection.state.signed_in_browser = found
        return found.principal if found else None

    async def _bearer(self, connection: HTTPConnection, authorization: str, address: str) -> Principal:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() not in {"bearer", "dpop"}:
            raise Unauthenticated("Only `Authorization: Bearer` and `DPoP` are understood here.")
        text, by_key = token.strip(), scheme.lower() == "dpop"
        async with self.throttle.attempt(f"bearer:{source_of(address)}"):
            if by_key or text.count(".") == _DOTS_OF_A_JWT:
                proof = self._proof_of(connection) if by_key else None
                return await self.access_tokens.authenticate(text, proof)
            return await self.standing.of_now(await self.gate.admit(text, address))

    def _proof_of(self, connection: HTTPConnection) -> ShownProof:
        """The one proof of the request, which is for its public address (RFC 9449, section 4.3)."""
        sent = connection.headers.getlist("dpop")
        url = f"{self.resources.settings.web.public_url}{connection.url.path}"
        return ShownProof(sent[0] if len(sent) == 1 else "", connection.scope.get("method", "GET"), url)

    async def _browser(self, cookie: str) -> SignedInBrowser | None:
        resources = self.resources
        async with resources.database.reading() as session:
            found = await self._operators(session).find(cookie)
        if found is None:
            return None
        if found.use_is_due:
            async with resources.database.transaction() as session:
                await self._operators(session).touch(found.session_id)
        return found

    def _operators(self, session: AsyncSession) -> OperatorService:
        resources = self.resources
        audit = audit_service(session, resources.now)
        return OperatorService(OperatorRepository(session), audit, resources.settings.sessions, resources.now)
