"""An application that comes up while another serves already: whoever asks it meanwhile waits.

A server that stops before it is there keeps nobody waiting: they are told to come again.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.status import WS_1013_TRY_AGAIN_LATER

from routeloom.lite.errors import StillStarting
from shared.web.app import go_away
from shared.web.problems import problem_of
from shared.web.request_ids import request_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

#: Longer than a start takes on a slow machine, shorter than browsers wait.
_PATIENCE = timedelta(seconds=20)
_RETRY_AFTER = timedelta(seconds=5)


class Later:
    """An ASGI application whose requests wait until it is there, or are told to come again."""

    def __init__(self, name: str, patience: timedelta = _PATIENCE) -> None:
        """Let a request wait for so long."""
        self.name = name
        self._patience = patience.total_seconds()
        self._app: FastAPI | None = None
        self._is_up = asyncio.Event()
        #: It is up, or will not be any more.
        self._is_decided = asyncio.Event()

    @property
    def app(self) -> FastAPI | None:
        """The application, once requests reach it."""
        return self._app if self._is_up.is_set() else None

    async def arrived(self) -> None:
        """Return once requests reach it."""
        await self._is_up.wait()

    @asynccontextmanager
    async def serving(self, app: FastAPI) -> AsyncIterator[None]:
        """Let requests reach it, from the end of its own start to the beginning of its end."""
        async with app.router.lifespan_context(app):
            self._app = app
            self._is_up.set()
            self._is_decided.set()
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or socket."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._is_decided.wait()
        await (self.app or self._refuse)(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": WS_1013_TRY_AGAIN_LATER})
            return
        with request_id():
            problem = problem_of(StillStarting(f"The {self.name} service still starts."))
            answer = JSONResponse(
                problem.model_dump(),
                status_code=problem.status,
                headers={"Retry-After": str(int(_RETRY_AFTER.total_seconds()))},
                media_type="application/problem+json",
            )
        await answer(scope, receive, send)

    async def go_away(self) -> None:
        """Tell its clients that the server stops, and those that wait for it."""
        self._is_decided.set()
        if self._app is not None:
            await go_away(self._app)
