"""`WS /api/v1/agent/ws`: greeting, frames in order, queued answers, an honest end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from typing import Any

import structlog
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from control_server.agents.errors import FrameRefused, TooManyFrames
from control_server.agents.service import AgentLink
from control_server.agents.store import Connection, Farewell
from shared import __version__
from shared.kernel.errors import AppError
from shared.kernel.ids import short_id
from shared.kernel.tasks import end
from shared.protocol.frames import (
    AGENT_FRAME,
    AGENT_FRAME_TYPES,
    MAX_FRAME_BYTES,
    PROTOCOL_VERSION,
    AgentFrame,
    AgentHello,
    CloseCode,
    ErrorFrame,
    ServerHello,
)
from shared.web import sockets
from shared.web.request_ids import go_on_under
from shared.web.routing import Router

log = structlog.get_logger(__name__)
router = Router()

_HELLO_SECONDS = 10
#: A farewell waits so long for a slow agent to take what is queued before it.
_FAREWELL_SECONDS = 2
#: Frames a second that one agent may send for long, and in a burst.
_RATE = 200
_BURST = 2000


@router.websocket("/api/v1/agent/ws")
async def agent_socket(websocket: WebSocket) -> None:
    """Serve one agent until either side ends it."""
    link: AgentLink = websocket.app.state.agent_link
    try:
        node_id = await link.authenticate(websocket.headers.get("authorization"))
    except AppError as refusal:
        await sockets.refuse(websocket, refusal)
        return
    await websocket.accept()
    hello = await _greeting(websocket)
    if hello is None:
        return
    try:
        connection = await link.connect(node_id, hello)
    except AppError as refusal:
        await sockets.close(websocket, sockets.CLOSE_CODE_OF_KIND[refusal.kind], refusal.detail)
        return
    connection.send(
        ServerHello(
            server_version=__version__,
            node_id=node_id,
            fencing_token=connection.fencing_token,
            server_time=link.now(),
        )
    )
    await _serve(websocket, link, connection)


async def _greeting(websocket: WebSocket) -> AgentHello | None:
    try:
        async with asyncio.timeout(_HELLO_SECONDS):
            text = await _receive_text(websocket)
        hello = AgentHello.model_validate_json(text)
    except (TimeoutError, ValidationError, FrameRefused):
        await sockets.close(websocket, CloseCode.PROTOCOL, "The first frame must be a valid `hello`.")
        return None
    except WebSocketDisconnect:
        return None
    if hello.protocol < PROTOCOL_VERSION:
        reason = f"Protocol {hello.protocol} is too old; this server needs {PROTOCOL_VERSION} or newer."
        await sockets.close(websocket, CloseCode.PROTOCOL, reason)
        return None
    return hello


async def _serve(websocket: WebSocket, link: AgentLink, connection: Connection) -> None:
    sending = asyncio.create_task(_send_queued(websocket, connection))
    receiving = asyncio.create_task(_receive_frames(websocket, link, connection))
    try:
        await link.ready(connection)
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        if connection.closing is not None:
            await asyncio.wait({sending}, timeout=_FAREWELL_SECONDS)
    finally:
        await end(receiving, sending)
        for outcome in await asyncio.gather(receiving, sending, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("agent.socket_failed", node=connection.node_id, exc_info=outcome)
        await link.disconnect(connection)


async def _send_queued(websocket: WebSocket, connection: Connection) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
        while True:
            item = await connection.outgoing.get()
            if isinstance(item, Farewell):
                await sockets.close(websocket, item.code, item.reason)
                return
            await websocket.send_text(item.model_dump_json())


async def _receive_frames(websocket: WebSocket, link: AgentLink, connection: Connection) -> None:
    allowance = _Allowance()
    # One id of the connection and a number: to draw one for each frame would cost more than to act on it.
    ident, number = short_id(14), itertools.count(1)
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            try:
                text = await _receive_text(websocket)
                allowance.take()
            except TooManyFrames as refusal:
                connection.close(CloseCode.THROTTLED, refusal.detail)
                return
            except FrameRefused as refusal:
                code = CloseCode.FRAME_TOO_LARGE if refusal.code == "frame_too_large" else CloseCode.PROTOCOL
                connection.close(code, refusal.detail)
                return
            if connection.closing is not None:
                return
            go_on_under(f"{ident}-{next(number)}")
            await _act(link, connection, text)


async def _act(link: AgentLink, connection: Connection, text: str) -> None:
    kind = ""
    try:
        if (frame := _well_formed(text)) is None:
            # Whatever is new or wrong in it is found and said from the document.
            document = _document(text)
            kind = str(document.get("type", ""))[:64]
            frame = _frame(document, kind)
        if frame is not None:
            kind = frame.type
            await link.receive(connection, frame)
    except AppError as refusal:
        connection.send(ErrorFrame(code=refusal.code, detail=refusal.detail, ref=kind))
    except Exception:
        log.exception("agent.frame_failed", node=connection.node_id, frame=kind)
        detail = "The server could not act on this frame."
        connection.send(ErrorFrame(code="internal_error", detail=detail, ref=kind))


def _well_formed(text: str) -> AgentFrame | None:
    """The frame, read from its text in one go."""
    try:
        return AGENT_FRAME.validate_json(text)
    except ValidationError:
        return None


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise FrameRefused("A frame is one JSON object with a `type`.")
    return document


def _frame(document: dict[str, Any], kind: str) -> AgentFrame | None:
    if kind not in AGENT_FRAME_TYPES:
        log.info("agent.frame_ignored", frame=kind)
        return None
    try:
        return AGENT_FRAME.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise FrameRefused(f"`{kind}`: {place or 'frame'}: {first['msg']}") from None


async def _receive_text(websocket: WebSocket) -> str:
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    text = message.get("text")
    if text is None:
        raise FrameRefused("Frames are text, not binary.")
    if len(text) > MAX_FRAME_BYTES:
        raise _FrameTooLarge
    return str(text)


class _FrameTooLarge(FrameRefused):
    """The frame is larger than the protocol allows."""

    code = "frame_too_large"


class _Allowance:
    """A token bucket for the frames of one agent."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._left = float(_BURST)
        self._at = self._clock()

    def take(self) -> None:
        """Count one frame. Raises TooManyFrames when the burst is used up."""
        now = self._clock()
        self._left = min(_BURST, self._left + (now - self._at) * _RATE)
        self._at = now
        if self._left < 1:
            raise TooManyFrames
        self._left -= 1
