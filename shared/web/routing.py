"""Routers whose routes are analysed once, when they are first asked for.

FastAPI analyses a route, its parameters, dependencies and models, where it is declared, and again for the
application that includes its router; only the second is ever used. Without the first, an import is much
shorter. What is wrong with a declaration is found with the second, at the latest when the interface is
described.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

if TYPE_CHECKING:
    from collections.abc import Callable

#: What a router that includes a route reads of it, where the declaration does not say it.
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(APIRoute.__init__).parameters.items()
    if parameter.default is not inspect.Parameter.empty
} | {"stream_item_type": None}


class LateRoute(APIRoute):
    """A route that is as it was declared until somebody asks for what only an analysis knows."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Keep what was said."""
        said = _DEFAULTS | options
        said["tags"] = list(said["tags"] or ())
        said["responses"] = said["responses"] or {}
        said["dependencies"] = list(said["dependencies"] or ())
        said["name"] = said["name"] or getattr(endpoint, "__name__", type(endpoint).__name__)
        said["methods"] = {method.upper() for method in said["methods"] or ("GET",)}
        said["description"] = said["description"] or inspect.cleandoc(endpoint.__doc__ or "")
        said["form_limits"] = said["form_limits"] or {}
        self.__dict__.update(said, path=path, endpoint=endpoint)
        self._declared: tuple[str, Callable[..., Any], dict[str, Any]] | None = (path, endpoint, options)

    def __getattr__(self, name: str) -> Any:
        """What is not there yet comes with the analysis."""
        declared = self.__dict__.pop("_declared", None)
        if declared is None:
            raise AttributeError(name)
        path, endpoint, options = declared
        super().__init__(path, endpoint, **options)
        return getattr(self, name)


class Router(APIRouter):
    """A router of such routes."""

    def __init__(self, **options: Any) -> None:
        """Take what `APIRouter` takes."""
        super().__init__(**{"route_class": LateRoute} | options)
