"""HEAD for every route that answers GET (RFC 9110, section 9.3.2): the same headers, and no body."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BY_HEAD = "routeloom.by_head"


def no_head(request: Request) -> None:
    """Dependency: refuse a HEAD, because whatever looks at a link before a person does must not use it up."""
    if request.scope.get(_BY_HEAD):
        raise HTTPException(405, "This link acts, so only GET opens it.")


@dataclass(frozen=True, slots=True)
class HeadAsGet:
    """Asks the application for GET and keeps the body back.

    A route whose GET does something, such as spending a link, has the dependency `no_head`.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; of a HEAD as a GET whose answer ends with its headers."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        asked = {**scope, "method": "GET", _BY_HEAD: True}
        answer = _HeadersOnly(receive, send)
        try:
            await self.app(asked, answer.receive, answer.send)
        finally:
            scope["route"] = asked.get("route")


class _HeadersOnly:
    """Sends the beginning of an answer and its end; an endless one is told that nobody listens any more."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._asked = False
        self._answered = asyncio.Event()

    async def receive(self) -> Message:
        if not self._asked:
            message = await self._receive()
            self._asked = not message.get("more_body", False)
            return message
        await self._answered.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._send(message)
            await self._send({"type": "http.response.body", "body": b""})
            self._answered.set()
