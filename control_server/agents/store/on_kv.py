"""The fleet over all workers: who holds which node's socket, when each node was heard, and a way there.

All of it is best effort. Without the tier each process knows its own agents, which is all that Lite needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from control_server.agents.schemas import Reach
from control_server.agents.store.in_process import Connection, Connections, Presence
from control_server.keys import AGENT_LIVE, AGENT_SOCKET, NODE_EVENTS
from shared.cache import Cache, Interrupted, Key, Message, Subscription, TierUnavailable
from shared.kernel.clock import Clock
from shared.kernel.ids import short_id
from shared.kernel.tasks import end
from shared.protocol.base import Frame
from shared.protocol.frames import (
    SERVER_FRAME,
    CloseCode,
    Heartbeat,
)

log = structlog.get_logger(__name__)

_LIVE_SECONDS = 600
_SOCKET_SECONDS = 90
_RETRY_SECONDS = 1.0
_TRIES = 5

#: Speaks to an agent that may have missed something.
SpeakAgain = Callable[[Connection], Awaitable[None]]


@dataclass(slots=True)
class Roster:
    """The part of this process in the fleet of all processes."""

    kv: Cache
    connections: Connections
    presence: Presence
    now: Clock
    instance: str = field(default_factory=lambda: short_id(12))
    _listening: dict[Connection, asyncio.Task[None]] = field(default_factory=dict)

    # --- a socket of this process

    async def join(self, connection: Connection, speak_again: SpeakAgain) -> None:
        """Tell the others of the socket and hear what they have for it, until `leave`."""
        if not self.kv.configured:
            return
        begun = asyncio.Event()
        listening = self._listen(connection, speak_again, begun)
        self._listening[connection] = asyncio.create_task(listening, name="agents.listen")
        await begun.wait()

    async def leave(self, connection: Connection) -> None:
        """The socket has ended. What a newer socket of the node has written stays."""
        task = self._listening.pop(connection, None)
        if task is None:
            return
        await end(task)
        await _tried(self.kv.delete(self._socket_key(connection)))

    async def renew(self) -> None:
        """Say again which sockets are here; run every 30 s."""
        for connection in self.connections.all():
            if connection in self._listening:
                await _tried(self._announce(connection))

    async def beat(self, node_id: str, connection: Connection | None, heartbeat: Heartbeat | None) -> None:
        """Write when the node was heard; a socket that was replaced no longer can."""
        if self.kv.configured:
            await _tried(self._write_live(node_id, connection, heartbeat))

    # --- the nodes of all processes

    async def refresh(self, node_ids: Sequence[str]) -> None:
        """Learn when nodes that are not connected here were heard elsewhere."""
        away = [node for node in node_ids if self.connections.find(node) is None]
        if not away or not self.kv.configured:
            return
        try:
            found = await self.kv.get_many_json([AGENT_LIVE.key(node=node) for node in away])
            there = await self.kv.server_time() if any(found) else None
        except TierUnavailable:
            return
        for node, live in zip(away, found, strict=True):
            if live is not None and there is not None:
                # Ages by the tier's own clock: the hosts' clocks need not agree.
                age = there - datetime.fromisoformat(live["at"])
                heartbeat = Heartbeat.model_validate(live["heartbeat"]) if live["heartbeat"] else None
                self.presence.learn(node, self.now() - age, heartbeat)

    async def reach(self, node_ids: Sequence[str]) -> Reach:
        """Those of the nodes that can be spoken to, through whichever process."""
        here = {node for node in node_ids if self.connections.find(node) is not None}
        away = [node for node in node_ids if node not in here]
        if not away or not self.kv.configured:
            return Reach(frozenset(here), certain=True)
        try:
            return Reach(frozenset(here | await self._connected(away)), certain=True)
        except TierUnavailable:
            return Reach(frozenset(here), certain=False)

    async def send(self, node_id: str, frame: Frame) -> bool:
        """Queue a frame for the node in the process that holds its socket; False when none heard it."""
        return await self._publish(node_id, {"frame": frame.model_dump(mode="json")})

    async def drop(self, node_id: str, reason: str) -> None:
        """End the node's socket in the process that holds it."""
        await self._publish(node_id, {"drop": reason})

    # --- inside

    async def _publish(self, node_id: str, word: dict[str, Any]) -> bool:
        if not self.kv.configured:
            return False
        try:
            return await self.kv.publish(NODE_EVENTS.key(node=node_id), word) > 0
        except TierUnavailable:
            return False

    async def _listen(self, connection: Connection, speak_again: SpeakAgain, begun: asyncio.Event) -> None:
        while connection.closing is None:
            try:
                async with self.kv.subscribe(NODE_EVENTS.key(node=connection.node_id)) as events:
                    await _tried(self._announce(connection))
                    if begun.is_set():  # this is not the first try, so something may have been missed
                        await speak_again(connection)
                    begun.set()
                    await self._hear(connection, events, speak_again)
            except TierUnavailable:
                begun.set()
                await asyncio.sleep(_RETRY_SECONDS)
            except Exception:
                begun.set()
                log.exception("agent.listening_failed", node=connection.node_id)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _hear(self, connection: Connection, events: Subscription, speak_again: SpeakAgain) -> None:
        async for event in events:
            if isinstance(event, Interrupted):
                continue
            if isinstance(event, Message):
                _act(connection, event.value)
            else:
                await _tried(self._announce(connection))
                await speak_again(connection)

    async def _announce(self, connection: Connection) -> None:
        node = connection.node_id
        await self.kv.set_json(self._socket_key(connection), "1", ttl_seconds=_SOCKET_SECONDS)
        await self._write_live(node, connection, None)
        await self.kv.publish(NODE_EVENTS.key(node=node), {"newest": connection.fencing_token})

    async def _write_live(
        self, node_id: str, connection: Connection | None, heartbeat: Heartbeat | None
    ) -> None:
        key = AGENT_LIVE.key(node=node_id)
        at = (await self.kv.server_time()).isoformat()
        for _ in range(_TRIES):
            seen = await self.kv.get_json(key)
            known = seen or {"instance": "", "connection": 0, "heartbeat": None}
            if connection is not None and connection.fencing_token < known["connection"]:
                connection.close(CloseCode.REPLACED, _REPLACED)
                return
            value = {
                "at": at,
                "instance": self.instance if connection else known["instance"],
                "connection": connection.fencing_token if connection else known["connection"],
                "heartbeat": heartbeat.model_dump(mode="json") if heartbeat else known["heartbeat"],
            }
            if seen is None:
                written = await self.kv.set_json_if_absent(key, value, ttl_seconds=_LIVE_SECONDS)
            else:
                written = await self.kv.exchange(key, seen, value, ttl_seconds=_LIVE_SECONDS)
            if written:
                return

    async def _connected(self, node_ids: Sequence[str]) -> set[str]:
        found = await self.kv.get_many_json([AGENT_LIVE.key(node=node) for node in node_ids])
        named = [
            (node, live["instance"], live["connection"])
            for node, live in zip(node_ids, found, strict=True)
            if live is not None and live["instance"]
        ]
        sockets = await self.kv.get_many_json(
            [AGENT_SOCKET.key(node=node, instance=where, connection=number) for node, where, number in named]
        )
        return {node for (node, _, _), there in zip(named, sockets, strict=True) if there is not None}

    def _socket_key(self, connection: Connection) -> Key:
        return AGENT_SOCKET.key(
            node=connection.node_id, instance=self.instance, connection=connection.fencing_token
        )


_REPLACED = "Replaced by a newer connection of this node."


def _act(connection: Connection, word: dict[str, Any]) -> None:
    if word.get("newest", 0) > connection.fencing_token:
        connection.close(CloseCode.REPLACED, _REPLACED)
    elif "drop" in word:
        connection.close(CloseCode.UNAUTHENTICATED, word["drop"])
    elif "frame" in word:
        connection.send(SERVER_FRAME.validate_python(word["frame"]))


async def _tried(act: Awaitable[Any]) -> None:
    try:
        await act
    except TierUnavailable:
        return
