"""The link that always comes back: connect, converse, stay away for a fitting while, again."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from node_agent import state
from node_agent.connection.conversation import Conversation, Ground
from node_agent.connection.pauses import Ending, Outcome, Pauses
from node_agent.errors import NotEnrolled, StateDirectoryUnusable
from shared import __version__
from shared.kernel.tasks import end
from shared.protocol.frames import MAX_FRAME_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from node_agent.settings import AgentSettings

log = structlog.get_logger(__name__)

_OPEN_SECONDS = 10.0
_PING_SECONDS = 20.0
_CLOSE_SECONDS = 0.7
_RECEIVE_QUEUE = 32
#: How often the token file is looked at while the agent stays away.
_WATCH_SECONDS = 1.0
_UNAUTHORIZED = 401
_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class Dialling:
    """How to come back; tests turn the dice themselves."""

    uniform: Callable[[float, float], float] = random.uniform
    watch_seconds: float = _WATCH_SECONDS
    ping_seconds: float = _PING_SECONDS


class AgentLink:
    """Keeps one conversation with the server going for as long as the agent runs."""

    def __init__(self, settings: AgentSettings, ground: Ground, dialling: Dialling | None = None) -> None:
        self._settings = settings
        self._ground = ground
        self._dialling = dialling or Dialling()
        self._pauses = Pauses(self._dialling.uniform)
        self._wake = asyncio.Event()
        self._conversation: Conversation | None = None

    def wake(self) -> None:
        """Try again now instead of waiting."""
        self._wake.set()

    async def run(self) -> None:
        """Connect and converse until cancelled."""
        while True:
            token, outcome = await self._attempt()
            pause = self._pauses.after(outcome)
            log.info(
                "agent.disconnected",
                ending=outcome.ending.value,
                detail=outcome.detail,
                pause=round(pause, 1),
            )
            await self._stay_away(pause, token)

    async def flush(self) -> None:
        """Send what is still owed, if a link is up."""
        if self._conversation is not None and self._conversation.greeted:
            with contextlib.suppress(ConnectionClosed):
                await self._conversation.flush()

    async def _attempt(self) -> tuple[str | None, Outcome]:
        """One link from end to end; nothing that goes wrong with it ends the agent."""
        token = None
        try:
            token = state.read_text(self._settings.token_path)
            if token is None:
                return None, Outcome(Ending.REFUSED, NotEnrolled().detail)
            return token, await self._converse(token)
        except StateDirectoryUnusable as error:
            return token, Outcome(Ending.LOST, error.detail)
        except Exception as error:
            log.exception("agent.link_failed")
            return token, Outcome(Ending.LOST, type(error).__name__)

    async def _converse(self, token: str) -> Outcome:
        self._wake.clear()
        try:
            socket = await self._connect(token)
        except InvalidStatus as error:
            return _refused_handshake(error)
        except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed, InvalidURI) as error:
            return Outcome(Ending.LOST, type(error).__name__)
        self._conversation = Conversation(socket, self._ground)
        try:
            return await self._conversation.run()
        finally:
            self._conversation = None
            with contextlib.suppress(OSError):
                await socket.close()

    async def _connect(self, token: str) -> ClientConnection:
        return await connect(
            self._settings.socket_url,
            additional_headers={"Authorization": f"Bearer {token}"},
            user_agent_header=f"routeloom-agent/{__version__}",
            compression=None,
            proxy=None if self._settings.server_is_local else True,
            open_timeout=_OPEN_SECONDS,
            close_timeout=_CLOSE_SECONDS,
            ping_interval=self._dialling.ping_seconds,
            ping_timeout=self._dialling.ping_seconds,
            max_size=MAX_FRAME_BYTES,
            max_queue=_RECEIVE_QUEUE,
        )

    async def _stay_away(self, seconds: float, token: str | None) -> None:
        """Wait; end early when woken or when the token file no longer holds the token just tried."""
        watching = asyncio.create_task(self._watch(token))
        waking = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({watching, waking}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(watching, waking)

    async def _watch(self, token: str | None) -> None:
        # A file has no event to wait for.
        while state.read_text(self._settings.token_path) in {token, None}:  # noqa: ASYNC110
            await asyncio.sleep(self._dialling.watch_seconds)


def _refused_handshake(error: InvalidStatus) -> Outcome:
    """A refusal before the WebSocket: by a proxy in between, or a server that is starting or full."""
    status = error.response.status_code
    if status in {_UNAUTHORIZED, _FORBIDDEN}:
        return Outcome(Ending.REFUSED, f"HTTP {status}")
    retry_after = error.response.headers.get("Retry-After", "")
    wish = float(retry_after) if retry_after.isdecimal() else None
    return Outcome(Ending.LOST, f"HTTP {status}", retry_after_seconds=wish)
