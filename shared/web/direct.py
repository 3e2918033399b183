"""Routes that are answered at once: the framework's way to a function takes longer than such a function."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class DirectRoute(APIRoute):
    """A route whose function is given the request as it is and answers by itself.

    The interface's description knows it like any other; the check of form tokens and other dependencies do
    not see it. Programs ask for tokens all day, and to analyse a request by declarations takes longer than
    to make a token.
    """

    def get_route_handler(self) -> Endpoint:
        """The function itself."""
        handler: Endpoint = self.endpoint
        return handler


class DirectRoutes:
    """Middleware: calls the functions of direct routes without parameters; all else goes on to the router.

    Refusals are answered by the application's handlers, found by class as the framework finds them.
    """

    def __init__(self, app: ASGIApp, application: FastAPI, routes: Sequence[DirectRoute]) -> None:
        """Know each route by its method and path."""
        self.app = app
        self._application = application
        self._routes = {(method, route.path): route for route in routes for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        request = Request(scope, receive, send)
        try:
            response: Response = await route.endpoint(request)
        except Exception as error:
            answer = self._handler_of(error)
            if answer is None:
                raise
            response = await answer(request, error)
        await response(scope, receive, send)

    def _handler_of(self, error: Exception) -> Callable[[Request, Exception], Any] | None:
        handlers = self._application.exception_handlers
        return next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
