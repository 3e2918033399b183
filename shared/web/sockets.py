"""WebSockets: always accept first, then close with the code that says why.

Closing before the accept reaches the client as a bare HTTP 403 without a reason.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shared.kernel.errors import AppError, Kind
from shared.protocol.frames import CloseCode

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

#: The longest reason that fits in a close frame (RFC 6455, section 5.5), in bytes.
_REASON_BYTES = 123

CLOSE_CODE_OF_KIND: dict[Kind, CloseCode] = {
    Kind.UNAUTHENTICATED: CloseCode.UNAUTHENTICATED,
    Kind.FORBIDDEN: CloseCode.FORBIDDEN,
    Kind.THROTTLED: CloseCode.THROTTLED,
    Kind.UNAVAILABLE: CloseCode.TRY_AGAIN,
    Kind.CONFLICT: CloseCode.REPLACED,
}


async def refuse(websocket: WebSocket, error: AppError) -> None:
    """Accept, then close with the code of the refusal and its sentence as the reason."""
    await websocket.accept()
    await close(websocket, CLOSE_CODE_OF_KIND.get(error.kind, CloseCode.PROTOCOL), error.detail)


async def close(websocket: WebSocket, code: CloseCode, reason: str) -> None:
    """Close; a peer that is gone already is no error."""
    text = reason.encode()[:_REASON_BYTES].decode(errors="ignore")
    with contextlib.suppress(RuntimeError, OSError):
        await websocket.close(code, text)
