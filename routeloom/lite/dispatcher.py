"""One origin for three services: requests go by path prefix, paths unchanged; three lifespans as one.

No Mount and no root_path: both lose lifespan state or warn, and every service serves its full paths.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from shared.web.app import go_away

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

_AUTH = ("/auth", "/.well-known/oauth-authorization-server/auth", "/.well-known/openid-configuration/auth")
_REGISTRY = ("/registry",)


class Dispatcher:
    """The ASGI application of Lite."""

    def __init__(self, control: FastAPI, auth: FastAPI, registry: FastAPI) -> None:
        """Dispatch between the three; everything that is not auth's or registry's is control's."""
        self._control = control
        self._prefixes = [*((prefix, auth) for prefix in _AUTH), *((p, registry) for p in _REGISTRY)]
        self._apps = (registry, auth, control)
        self.registry = registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, socket or the lifespan."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        await self._owner(scope["path"])(scope, receive, send)

    def _owner(self, path: str) -> FastAPI:
        for prefix, app in self._prefixes:
            if path == prefix or path.startswith(prefix + "/"):
                return app
        return self._control

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self._apps:
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
            await go_away(app)
