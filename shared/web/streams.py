"""Server-sent events: bounded sends, keep-alives, and an end when the server goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import structlog
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError

from shared.kernel.errors import AppError, Kind
from shared.kernel.tasks import end

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

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
_TRY_AGAIN = timedelta(seconds=5)


class TooManyStreams(AppError):
    """As many event streams are open as this server takes. Try again in a moment."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "too_many_streams"

    def __init__(self) -> None:
        """Ask for another try soon; behind a proxy it may reach another process."""
        super().__init__(retry_after=_TRY_AGAIN)


@dataclass(slots=True)
class StreamPlaces:
    """How many streams one process has open, and may have."""

    limit: int
    taken: int = 0

    def check(self) -> None:
        """Raises TooManyStreams when there is no place left."""
        if self.taken >= self.limit:
            raise TooManyStreams

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """A place, for as long as the body runs."""
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def sse(name: str, data: dict[str, Any], *, ident: str | None = None) -> ServerSentEvent:
    """One event. The data is one JSON object, so no line end of a tool can break the framing."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(event=name, data=text, id=ident, sep="\n")


def stream_events(request: Request, events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """Answer with a stream that ends with `events`, with the client, or with the server.

    Raises TooManyStreams for one more than the process takes: each holds a socket, a task and a queue. The
    database session of the request is closed before the stream begins; `events` opens its own.
    """
    metrics: WebMetrics = request.app.state.metrics
    going_away: asyncio.Event = request.app.state.going_away
    places: StreamPlaces = request.app.state.stream_places
    places.check()

    async def body() -> AsyncIterator[ServerSentEvent]:
        with metrics.streams.track_inprogress():
            yield ServerSentEvent(retry=RETRY_MILLISECONDS, sep="\n")
            async with contextlib.aclosing(_until(going_away, events)) as bounded:
                async for event in bounded:
                    yield event

    return _Stream(
        body(),
        places=places,
        ping=KEEP_ALIVE_SECONDS,
        send_timeout=SEND_SECONDS,
        shutdown_grace_period=_END_SECONDS,
        sep="\n",
    )


class _Stream(EventSourceResponse):
    """A client that stops reading is let go; that is its own affair and no error of ours."""

    def __init__(self, events: AsyncIterator[ServerSentEvent], *, places: StreamPlaces, **more: Any) -> None:
        """Send these events, in one of the places."""
        super().__init__(events, **more)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the end."""
        try:
            with self._places.one():
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
        await end(*(task for task in (stopping, following) if task is not None))
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
