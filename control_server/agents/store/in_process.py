"""Who is connected to this process, and when each node was last heard: the path of Lite, and of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from shared.protocol.base import Frame
from shared.protocol.frames import (
    CloseCode,
    Heartbeat,
)

log = structlog.get_logger(__name__)

#: Frames that may wait for a slow agent; past it the agent is disconnected with 4429.
SEND_QUEUE = 256


@dataclass(eq=False, slots=True)
class Connection:
    """One accepted socket of one node. Frames are queued; the socket's own task sends them."""

    node_id: str
    fencing_token: int
    connected_at: datetime
    outgoing: asyncio.Queue[Frame | Farewell] = field(default_factory=lambda: asyncio.Queue(SEND_QUEUE))
    closing: Farewell | None = None

    def send(self, frame: Frame) -> bool:
        """Queue a frame; False when the agent is too slow and is being let go."""
        if self.closing is not None:
            return False
        try:
            self.outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self.close(CloseCode.THROTTLED, "The agent does not keep up with the server.")
            return False
        return True

    def close(self, code: CloseCode, reason: str) -> None:
        """End the socket after what is queued; the first reason counts."""
        if self.closing is not None:
            return
        self.closing = Farewell(code, reason)
        while self.outgoing.full():
            self.outgoing.get_nowait()
        self.outgoing.put_nowait(self.closing)


@dataclass(frozen=True, slots=True)
class Farewell:
    """The close that the socket's sender performs."""

    code: CloseCode
    reason: str


#: Told when a node's newest connection ends: node id and its fencing token.
LostListener = Callable[[str, int], Awaitable[None]]


class Connections:
    """The newest connection of each node in this process. Newer wins, older is closed as replaced."""

    def __init__(self) -> None:
        """Start with nobody connected."""
        self._of_node: dict[str, Connection] = {}
        self._empty = asyncio.Event()
        self._empty.set()

    def add(self, connection: Connection) -> None:
        """Make this the node's connection; an older one is told that it is replaced."""
        older = self._of_node.get(connection.node_id)
        if older is not None and older.fencing_token > connection.fencing_token:
            connection.close(CloseCode.REPLACED, "A newer connection of this node exists.")
            return
        self._of_node[connection.node_id] = connection
        self._empty.clear()
        if older is not None:
            older.close(CloseCode.REPLACED, "Replaced by a newer connection of this node.")

    def remove(self, connection: Connection) -> bool:
        """Forget it; True when it was the node's current one, False when a newer one has taken over."""
        if self._of_node.get(connection.node_id) is not connection:
            return False
        del self._of_node[connection.node_id]
        if not self._of_node:
            self._empty.set()
        return True

    async def emptied(self) -> None:
        """Wait until nobody is connected."""
        await self._empty.wait()

    def find(self, node_id: str) -> Connection | None:
        """The node's connection to this process."""
        return self._of_node.get(node_id)

    def send(self, node_id: str, frame: Frame) -> bool:
        """Queue a frame for the node; False when it is not connected here or too slow."""
        connection = self._of_node.get(node_id)
        return connection is not None and connection.send(frame)

    def all(self) -> list[Connection]:
        """Every connection of this process."""
        return list(self._of_node.values())


@dataclass(slots=True)
class Beat:
    """The last word of a node's agent."""

    at: datetime
    heartbeat: Heartbeat | None = None
    written_at: datetime | None = None


class Presence:
    """When each node was last heard, and its last heartbeat."""

    def __init__(self) -> None:
        """Start knowing nothing; SQL's `last_seen_at` answers for the time before."""
        self._beats: dict[str, Beat] = {}

    def heard(self, node_id: str, at: datetime, heartbeat: Heartbeat | None = None) -> None:
        """Note any message; a heartbeat is kept until the next one."""
        beat = self._beats.get(node_id)
        if beat is None:
            beat = self._beats[node_id] = Beat(at)
        elif at > beat.at:
            beat.at = at
        if heartbeat is not None:
            beat.heartbeat = heartbeat

    def learn(self, node_id: str, at: datetime, heartbeat: Heartbeat | None) -> None:
        """Note what another process has heard; that process also writes it to SQL."""
        beat = self._beats.get(node_id)
        if beat is None or at > beat.at:
            self._beats[node_id] = Beat(at, heartbeat or (beat.heartbeat if beat else None), at)

    def find(self, node_id: str) -> Beat | None:
        """What was last heard in this process, or learned from another."""
        return self._beats.get(node_id)

    def unwritten(self) -> dict[str, datetime]:
        """Instants that SQL does not have yet."""
        return {node: beat.at for node, beat in self._beats.items() if beat.written_at != beat.at}

    def written(self, instants: dict[str, datetime]) -> None:
        """SQL has these now."""
        for node, at in instants.items():
            self._beats[node].written_at = at

    def facts(self) -> dict[str, Any]:
        """Aggregates for metrics."""
        return {"nodes": len(self._beats)}
