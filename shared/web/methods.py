"""What may be asked of an address: the `Allow` of a 405 (RFC 9110, section 15.5.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Match

from shared.web.head import no_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.types import Scope


def allowed_methods(routes: Iterable[Any], scope: Scope) -> list[str]:
    """The methods of all routes that share the request's path, each once and in order.

    A route answers HEAD where it answers GET, unless it refuses to (`no_head`).
    """
    allowed: set[str] = set()
    for route in _of_path(routes, scope):
        methods = set(getattr(route, "methods", None) or ())
        if "GET" in methods and not _refuses_head(route):
            methods.add("HEAD")
        allowed |= methods
    return sorted(allowed)


def _of_path(routes: Iterable[Any], scope: Scope) -> Iterator[Any]:
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from _of_path(route.effective_candidates(), scope)
        elif route.matches(scope)[0] is not Match.NONE:
            yield route


def _refuses_head(route: Any) -> bool:
    return any(needed.dependency is no_head for needed in getattr(route, "dependencies", ()))
