"""Finds the caller of a request: a bearer token whose digest this service was told."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from shared.kernel.errors import Unauthenticated
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from shared.kernel.secrets import identify, matches


@dataclass(frozen=True, slots=True)
class DigestAuthenticator:
    """Knows tokens by their digests and nobody else; they read the registry and ask for syncs."""

    digests: tuple[str, ...]

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        """The caller. A credential that is not good is refused, never ignored."""
        authorization = connection.headers.get("authorization")
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        ident = identify(token.strip(), "rlp")
        if scheme.lower() != "bearer" or ident is None:
            raise Unauthenticated("Only `Authorization: Bearer` with an access token is understood here.")
        if not any(matches(token.strip(), digest) for digest in self.digests):
            raise Unauthenticated
        return Principal(
            id=ident,
            kind=PrincipalKind.SERVICE,
            name=ident,
            role=Role.OPERATOR,
            scopes=frozenset({Scope.REGISTRY_READ, Scope.REGISTRY_SYNC}),
        )
