"""Following a stream of server-sent events over any number of connections, without gap or repeat."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from routeloom.cli.connection import check

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_ATTEMPTS = 8
_LONGEST_PAUSE = 10.0
#: Longer than the server's keep-alive interval, so that silence means a dead connection.
_SILENCE_SECONDS = 40


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the stream."""

    name: str
    data: dict[str, Any]


async def follow(client: httpx2.AsyncClient, path: str) -> AsyncIterator[Event]:
    """Every event to `done`, resuming after the last one seen when the connection breaks."""
    cursor = _Cursor()
    while not cursor.ended:
        try:
            async for event in _once(client, path, cursor):
                yield event
        except httpx2.TransportError:
            cursor.failures += 1
            if cursor.failures > _ATTEMPTS:
                raise
        if not cursor.ended:
            pause = random.uniform(0.2, 0.5) * 2**cursor.failures  # noqa: S311 - not a secret
            await asyncio.sleep(min(_LONGEST_PAUSE, pause))


@dataclass(slots=True)
class _Cursor:
    """How far the stream has been read."""

    last_id: str = ""
    failures: int = 0
    ended: bool = False


async def _once(client: httpx2.AsyncClient, path: str, cursor: _Cursor) -> AsyncIterator[Event]:
    headers = {"Accept": "text/event-stream"}
    if cursor.last_id:
        headers["Last-Event-ID"] = cursor.last_id
    async with client.stream("GET", path, headers=headers, timeout=_SILENCE_SECONDS) as answer:
        if answer.status_code == httpx2.codes.NO_CONTENT:
            cursor.ended = True
            return
        if not answer.is_success:
            await answer.aread()
            check(answer)
        async for ident, event in _events(answer):
            cursor.failures = 0
            cursor.last_id = ident or cursor.last_id
            cursor.ended = event.name == "done"
            yield event
            if cursor.ended:
                return


async def _events(answer: httpx2.Response) -> AsyncIterator[tuple[str, Event]]:
    name, ident, data = "message", "", ""
    async for line in answer.aiter_lines():
        if not line:
            if data:
                yield ident, Event(name, json.loads(data))
            name, ident, data = "message", "", ""
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("id:"):
            ident = line[3:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
