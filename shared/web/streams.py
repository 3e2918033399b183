"""Server-sent events: bounded sends, keep-alives, and an end when the server goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import structlog
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from fastapi import Request
    from starlette.types import Receive, Scope, Send

    from shared.web.metrics import WebMetrics

log = structlog.get_logger(__name__)

#: A comment at least this often, well inside the 60 s after which proxies cut an idle answer.
KEEP_ALIVE_SECONDS = 10
#: A client that reads nothing for so long is let go.
SEND_SECONDS = 20
#: How long browsers wait before they come back.
RETRY_MILLISECONDS = 2000
#: Streams end by themselves when the server goes away; the library may cut them only after this.
_END_SECONDS = 3


def sse(name: str, data: dict[str, Any], *, ident: str | None = None) -> ServerSentEvent:
    """One event. The data is one JSON object, so no line end of a tool can break the framing."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(event=name, data=text, id=ident, sep="\n")


def stream_events(request: Request, events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """Answer with a stream that ends with `events`, with the client, or with the server.

    The database session of the request is closed before the stream begins; `events` opens its own.
    """
    metrics: WebMetrics = request.app.state.metrics
    going_away: asyncio.Event = request.app.state.going_away

    async def body() -> AsyncIterator[ServerSentEvent]:
        with metrics.streams.track_inprogress():
            yield ServerSentEvent(retry=RETRY_MILLISECONDS, sep="\n")
            async with contextlib.aclosing(_until(going_away, events)) as bounded:
                async for event in bounded:
                    yield event

    return _Stream(
        body(),
        ping=KEEP_ALIVE_SECONDS,
        send_timeout=SEND_SECONDS,
        shutdown_grace_period=_END_SECONDS,
        sep="\n",
    )


class _Stream(EventSourceResponse):
    """A client that stops reading is let go; that is its own affair and no error of ours."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the end."""
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("stream.reader_stalled", path=scope["path"])


async def _until(
    stop: asyncio.Event, events: AsyncIterator[ServerSentEvent]
) -> AsyncGenerator[ServerSentEvent, None]:
    stopping = asyncio.create_task(stop.wait())
    following: asyncio.Task[ServerSentEvent] | None = None
    try:
        while not stop.is_set():
            following = asyncio.create_task(_next(events))
            await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            try:
                event = following.result()
            except _Ended:
                return
            yield event
    finally:
        for task in (stopping, following):
            if task is not None and not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


async def _next(events: AsyncIterator[ServerSentEvent]) -> ServerSentEvent:
    try:
        return await anext(events)
    except StopAsyncIteration:
        raise _Ended from None


class _Ended(Exception):
    """The events are at their end; StopAsyncIteration itself cannot leave a task."""
