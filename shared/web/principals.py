"""Who asks, and whether they may: the one gate in front of every route that is not public."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Protocol

from fastapi import Depends
from starlette.requests import HTTPConnection

from shared.kernel.errors import Forbidden, Unauthenticated
from shared.kernel.principal import Principal, Scope

_READS = frozenset({"GET", "HEAD"})


class Authenticator(Protocol):
    """Finds the caller from a bearer token or a session cookie; a service has exactly one."""

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        """The caller, or None for nobody. Raises Unauthenticated for a credential that is not good."""


class StepUp(Protocol):
    """Knows whether a person in a session proved who they are recently enough for a delicate step."""

    async def __call__(self, connection: HTTPConnection, principal: Principal) -> None:
        """Raises Unauthenticated or Forbidden when they must prove it again."""


async def find_principal(connection: HTTPConnection) -> Principal | None:
    """The caller, asked for once a request; left in `request.state.principal` for pages."""
    state = connection.state
    if not hasattr(state, "principal"):
        authenticate: Authenticator = connection.app.state.authenticate
        state.principal = await authenticate(connection)
    principal: Principal | None = state.principal
    return principal


class Require:
    """Dependency: somebody with this scope (None: anybody who is signed in).

    What changes who may do what (`access:admin`) asks a person in a session for a recent proof as well, where
    the service has set `app.state.step_up`.
    """

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
        if self.scope is Scope.ACCESS_ADMIN:
            await _prove_anew(connection, principal)
        return principal


class SessionRequired(Forbidden):
    """Only a person who is signed in to the portal may do this; an access token is not enough."""

    code = "session_required"


class RequireSession(Require):
    """Dependency: a person in a signed-in browser, or a token with `unless`.

    Where the service has set `app.state.step_up`, that is asked before a write whether the person has proved
    recently enough who they are, and raises when not.
    """

    def __init__(self, unless: Scope | None = None) -> None:
        """Ask for a session, or for a token that carries `unless`."""
        super().__init__()
        self.unless = unless

    async def __call__(self, connection: HTTPConnection) -> Principal:
        """The caller. Raises Unauthenticated or SessionRequired."""
        principal = await super().__call__(connection)
        if not getattr(connection.state, "by_session", False):
            if self.unless is None or not principal.may(self.unless):
                raise SessionRequired
            return principal
        await _prove_anew(connection, principal)
        return principal


async def _prove_anew(connection: HTTPConnection, principal: Principal) -> None:
    """Before a write, where the service has a way to ask for a recent proof."""
    step_up: StepUp | None = getattr(connection.app.state, "step_up", None)
    if step_up is not None and connection.scope.get("method") not in _READS:
        await step_up(connection, principal)


async def check_gates(request: HTTPConnection) -> None:
    """Ask the gates of the route that a request came to. Raises what they raise.

    A body that does not parse is refused before any dependency runs; whoever may not ask is told that first.
    """
    for gate in _gates(getattr(request.scope.get("route"), "dependant", None)):
        await gate(request)


def _gates(dependant: Any) -> Iterator[Require]:
    for needed in getattr(dependant, "dependencies", ()):
        if isinstance(needed.call, Require):
            yield needed.call
        yield from _gates(needed)


SignedIn = Annotated[Principal, Depends(Require())]
