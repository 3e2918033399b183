"""Every route of an application, whatever routers it came in."""

from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import FastAPI

UNSEEN = {"HEAD", "OPTIONS"}


def routes_of(app: FastAPI) -> list[str]:
    """Such as `GET /api/v1/nodes/{node_id}` or `WS /api/v1/agent/ws`, in the order of the path."""
    found = [f"{method} {route.path}" for route in flat(app.routes) for method in _methods(route)]
    return sorted(set(found), key=lambda row: (row.split()[1], row))


def flat(routes: Iterable[Any]) -> Iterator[Any]:
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from flat(route.effective_candidates())
            yield from flat(route.effective_low_priority_routes())
        else:
            yield getattr(route, "starlette_route", None) or route


def _methods(route: Any) -> set[str]:
    methods = set(getattr(route, "methods", None) or ())
    return methods - UNSEEN if methods else {"WS"}
