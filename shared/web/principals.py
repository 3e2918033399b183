"""Who asks, and whether they may: the one gate in front of every route that is not public."""

from __future__ import annotations

from typing import Annotated, Protocol

from fastapi import Depends
from starlette.requests import HTTPConnection

from shared.kernel.errors import Forbidden, Unauthenticated
from shared.kernel.principal import Principal, Scope


class Authenticator(Protocol):
    """Finds the caller from a bearer token or a session cookie; a service has exactly one."""

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        """The caller, or None for nobody. Raises Unauthenticated for a credential that is not good."""


async def find_principal(connection: HTTPConnection) -> Principal | None:
    """The caller, asked for once a request; left in `request.state.principal` for pages."""
    state = connection.state
    if not hasattr(state, "principal"):
        authenticate: Authenticator = connection.app.state.authenticate
        state.principal = await authenticate(connection)
    principal: Principal | None = state.principal
    return principal


class Require:
    """Dependency: somebody with this scope (None: anybody who is signed in)."""

    def __init__(self, scope: Scope | None = None) -> None:
        """Ask for `scope`."""
        self.scope = scope

    async def __call__(self, connection: HTTPConnection) -> Principal:
        """The caller. Raises Unauthenticated or Forbidden."""
        principal = await find_principal(connection)
        if principal is None:
            raise Unauthenticated
        if self.scope is not None and not principal.may(self.scope):
            raise Forbidden(f"This needs the permission {self.scope}, which you do not have.")
        return principal


SignedIn = Annotated[Principal, Depends(Require())]
