"""The gallery on a free loopback port, and a browser to look at it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn

from tests.chromium import chromium, new_context
from tests.unit.shared.web.pages.gallery.app import gallery_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page


class Watched:
    """A page whose complaints are kept."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    def _console(self, message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind in {"error", "warning"}:
            self.complaints.append(f"{kind}: {text}")


@pytest.fixture(scope="module")
def gallery() -> Iterator[str]:
    """The address of the running gallery."""
    server = uvicorn.Server(uvicorn.Config(gallery_app(), host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    started = threading.Event()
    for _ in range(200):
        if server.started:
            break
        started.wait(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://localhost:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@contextmanager
def opened(browser: Browser, address: str, width: int = 1440, **options: str) -> Iterator[Watched]:
    """A page in a context of its own; `options` are color_scheme and locale."""
    context = new_context(browser, viewport={"width": width, "height": 900}, **options)
    watched = Watched(context.new_page())
    watched.page.goto(address)
    yield watched
    context.close()
