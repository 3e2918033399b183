"""One id for everything that happens because of one request, frame or job."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from structlog.contextvars import bind_contextvars, reset_contextvars

from shared.kernel.ids import short_id

if TYPE_CHECKING:
    from collections.abc import Iterator

_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{8,64}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of what is being done now; empty outside of a request."""
    return _current.get()


def go_on_under(ident: str) -> None:
    """Work under this id from now on; for a task of its own that does one thing after another."""
    _current.set(ident)
    bind_contextvars(request_id=ident)


@contextmanager
def request_id(offered: str | None = None) -> Iterator[str]:
    """Work under the caller's id where it is well formed, else under a new one; logs carry it."""
    ident = offered if offered and _ACCEPTED.fullmatch(offered) else short_id(16)
    token, bound = _current.set(ident), bind_contextvars(request_id=ident)
    try:
        yield ident
    finally:
        reset_contextvars(**bound)
        _current.reset(token)
