"""One origin for three services: requests go by path prefix, paths unchanged.

No Mount and no root_path: both lose lifespan state or warn, and every service serves its full paths. The
applications that are given have their lifespans here; a `Later` comes up and goes down by itself. Until
control is there, a door of its own answers whoever is not signed in yet.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeAlias

from starlette.responses import JSONResponse

from routeloom.lite.later import Later
from shared.web.app import go_away

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    Application: TypeAlias = FastAPI | Later

_AUTH = ("/auth", "/.well-known/oauth-authorization-server/auth", "/.well-known/openid-configuration/auth")
_REGISTRY = ("/registry",)
_READY = "/readyz"
_DOOR = ("/session-link/", "/static/")
_CREDENTIALS = {b"cookie", b"authorization"}


class Dispatcher:
    """The ASGI application of Lite."""

    def __init__(
        self, control: Application, auth: Application, registry: Application, door: FastAPI | None = None
    ) -> None:
        """Dispatch between the three; everything that is not auth's or registry's is control's."""
        self._control = control
        self._door = door
        self._prefixes = [*((prefix, auth) for prefix in _AUTH), *((p, registry) for p in _REGISTRY)]
        self._apps = (registry, auth, control, *((door,) if door else ()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, socket or the lifespan."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["path"] == _READY and (missing := self._missing()):
            body = {"status": "not_ready", "starting": missing}
            await JSONResponse(body, 503, headers={"Retry-After": "1"})(scope, receive, send)
        else:
            owner = self._owner(scope["path"])
            if self._door and owner is self._control and self._waits(owner) and _at_the_door(scope):
                owner = self._door
            await owner(scope, receive, send)

    def _missing(self) -> list[str]:
        """The whole is ready when every part of it is."""
        return [app.name for app in self._apps if isinstance(app, Later) and self._waits(app)]

    @staticmethod
    def _waits(app: Application) -> bool:
        return isinstance(app, Later) and app.app is None

    def _owner(self, path: str) -> Application:
        for prefix, app in self._prefixes:
            if path == prefix or path.startswith(prefix + "/"):
                return app
        return self._control

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self._apps:
                    if not isinstance(app, Later):
                        await stack.enter_async_context(app.router.lifespan_context(app))
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                raise
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def go_away(self) -> None:
        """Tell the clients of every service that the server stops."""
        for app in self._apps:
            if isinstance(app, Later):
                await app.go_away()
            else:
                await go_away(app)


def _at_the_door(scope: Scope) -> bool:
    """Whether this is a page on the way in, or the first page for somebody who brings no credentials."""
    if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
        return False
    path: str = scope["path"]
    if path == "/":
        return not any(name in _CREDENTIALS for name, _ in scope["headers"])
    return path == "/sign-in" or path.startswith(_DOOR)
