"""One WebSocket to the server, from greeting to close."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from pydantic import ValidationError
from websockets.exceptions import ConnectionClosed

from node_agent.connection.pauses import Ending, Outcome, ending_of_code
from shared import __version__
from shared.kernel.secrets import redact
from shared.kernel.tasks import end
from shared.protocol.base import Frame
from shared.protocol.frames import (
    SERVER_FRAME,
    SERVER_FRAME_TYPES,
    AgentHello,
    ApplyStatus,
    DesiredStateUpdated,
    ErrorFrame,
    Goodbye,
    Heartbeat,
    Ping,
    Pong,
    ProbeCancel,
    ProbeRefused,
    ProbeStart,
    ProbeStored,
    ServerFrame,
    ServerHello,
    SnapshotRequest,
)
from shared.protocol.reports import PrefixAcknowledged

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

    from node_agent.collect.collection import Collection
    from node_agent.fleet import Fleet
    from node_agent.probes.desk import ProbeDesk
    from node_agent.probes.outbox import Outbox

log = structlog.get_logger(__name__)

_HELLO_SECONDS = 10.0
_LEAST_HEARTBEAT_SECONDS = 0.05
_GREATEST_HEARTBEAT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Ground:
    """What a conversation is about; it outlives every link."""

    hello: AgentHello
    desk: ProbeDesk
    outbox: Outbox
    collection: Collection
    #: None: an agent that probes and routes nothing.
    fleet: Fleet | None = None


class Conversation:
    """Greets, beats, sends what is owed and does what the server asks, until the link ends."""

    def __init__(self, socket: ClientConnection, ground: Ground) -> None:
        self._socket = socket
        self._ground = ground
        self._clock = asyncio.get_running_loop().time
        self._goodbye: Goodbye | None = None
        self._idle = asyncio.Event()
        self.greeted = False
        #: Frames whose type this agent does not know yet.
        self.ignored = 0

    async def run(self) -> Outcome:
        """Serve the link and answer how it ended."""
        began = self._clock()
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._send(self._ground.hello)
            server = await self._greeting()
            self.greeted = True
            log.info("agent.connected", node=server.node_id, server_version=server.server_version)
            self._ground.outbox.rewind()
            if self._ground.fleet is not None:
                self._ground.fleet.reports.rewind()
                self._ground.fleet.applier.ring()
                tasks.append(asyncio.create_task(self._send_reports(self._ground.fleet), name="reports"))
            tasks += [
                asyncio.create_task(self._beat(server.heartbeat_seconds), name="heartbeat"),
                asyncio.create_task(self._send_owed(), name="outbox"),
                asyncio.create_task(self._receive(), name="receive"),
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except ConnectionClosed:
            pass
        except TimeoutError:
            await self._socket.close(1002, "no hello")
        finally:
            await end(*tasks)
        return self._outcome(self._clock() - began)

    async def flush(self) -> None:
        """Wait until everything that is due now is sent; used before the agent leaves."""
        self._idle.clear()
        self._ground.outbox.changed.set()
        await self._idle.wait()

    def _outcome(self, lasted: float) -> Outcome:
        code, reason = self._socket.close_code, redact(self._socket.close_reason or "")
        if self._goodbye is not None:
            return Outcome(Ending.GOODBYE, reason, lasted, self._goodbye.retry_after_seconds)
        return Outcome(ending_of_code(code), f"{code or 'cut'} {reason}".strip(), lasted)

    async def _send(self, frame: Frame) -> None:
        await self._socket.send(frame.model_dump_json())

    async def _greeting(self) -> ServerHello:
        async with asyncio.timeout(_HELLO_SECONDS):
            while True:
                frame = self._parse(await self._socket.recv())
                if isinstance(frame, ServerHello):
                    return frame

    async def _beat(self, seconds: float) -> None:
        interval = min(max(seconds, _LEAST_HEARTBEAT_SECONDS), _GREATEST_HEARTBEAT_SECONDS)
        while True:
            sample, fleet = self._ground.collection.latest, self._ground.fleet
            await self._send(
                Heartbeat(
                    agent_version=__version__,
                    uptime_seconds=sample.uptime_seconds,
                    load=sample.load,
                    memory_used_bytes=sample.memory_used_bytes,
                    memory_total_bytes=sample.memory_total_bytes,
                    running_probes=self._ground.desk.running,
                    applied_generation=fleet.applier.generation if fleet else None,
                    apply_status=fleet.status if fleet else ApplyStatus.NONE,
                )
            )
            await asyncio.sleep(interval)

    async def _send_owed(self) -> None:
        outbox = self._ground.outbox
        while True:
            frames, wait = outbox.due(self._clock())
            for frame in frames:
                await self._send(frame)
            if frames:
                continue
            if wait is None:
                self._idle.set()
            try:
                async with asyncio.timeout(wait):
                    await outbox.changed.wait()
            except TimeoutError:
                continue

    async def _send_reports(self, fleet: Fleet) -> None:
        while True:
            await fleet.reports.changed.wait()
            for report in fleet.reports.take():
                await self._socket.send(report.model_dump_json())

    async def _receive(self) -> None:
        while True:
            frame = self._parse(await self._socket.recv())
            if frame is not None:
                await self._act(frame)

    def _parse(self, message: str | bytes) -> ServerFrame | None:
        try:
            document = json.loads(message)
            kind = document.get("type")
        except (ValueError, AttributeError, RecursionError):
            self.ignored += 1
            log.warning("agent.frame_unreadable")
            return None
        if kind not in SERVER_FRAME_TYPES:
            self.ignored += 1
            log.info("agent.frame_ignored", frame=str(kind)[:64], ignored=self.ignored)
            return None
        try:
            return SERVER_FRAME.validate_python(document)
        except ValidationError as error:
            self.ignored += 1
            log.warning("agent.frame_invalid", frame=kind, errors=error.error_count())
            return None

    async def _act(self, frame: ServerFrame) -> None:
        match frame:
            case Ping():
                await self._send(Pong(nonce=frame.nonce[:64]))
            case Goodbye():
                self._goodbye = frame
            case ErrorFrame():
                log.warning(
                    "agent.frame_refused", code=frame.code, frame=frame.ref, detail=redact(frame.detail)
                )
                if frame.ref == "prefix_report" and self._ground.fleet is not None:
                    self._ground.fleet.routes.refused(frame.code)
            case _:
                if not (self._act_on_probe(frame) or self._act_on_node(frame)):
                    self.ignored += 1

    def _act_on_probe(self, frame: ServerFrame) -> bool:
        desk, outbox = self._ground.desk, self._ground.outbox
        match frame:
            case ProbeStart():
                desk.start(frame)
            case ProbeCancel():
                desk.cancel(frame.probe_id)
            case ProbeStored():
                outbox.stored(frame.probe_id, frame.seq, final=frame.final)
            case ProbeRefused():
                desk.refuse(frame.probe_id)
            case _:
                return False
        return True

    def _act_on_node(self, frame: ServerFrame) -> bool:
        fleet = self._ground.fleet
        if fleet is None:
            return False
        match frame:
            case DesiredStateUpdated():
                fleet.applier.ring()
            case SnapshotRequest():
                fleet.request_snapshot()
            case PrefixAcknowledged():
                fleet.routes.heard(frame)
            case _:
                return False
        return True
