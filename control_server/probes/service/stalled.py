"""Frames of agents that wait until the tier which holds their probe answers again; in order, and bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from shared.protocol.base import Frame
from shared.protocol.frames import (
    CloseCode,
    ProbeDone,
    ProbeOutput,
)

#: Frames of one share that may wait. An agent keeps what was not acknowledged, and sends it again when it
#: connects again, so one frame too many costs a reconnect and no line.
_MOST_FRAMES = 256


class Peer(Protocol):
    """The connection of an agent, as far as probes need it."""

    @property
    def node_id(self) -> str:
        """The node that was authenticated, whatever the frames say."""

    @property
    def fencing_token(self) -> int:
        """Higher for each newer connection of the node."""

    def send(self, frame: Frame) -> bool:
        """Queue a frame."""

    def close(self, code: CloseCode, reason: str) -> None:
        """End the connection; the agent connects again."""


Waiting = ProbeOutput | ProbeDone


@dataclass(slots=True)
class StalledFrames:
    """What this process could not take yet, by share."""

    _queues: dict[tuple[UUID, str], tuple[Peer, deque[Waiting]]] = field(default_factory=dict)

    def waits_behind(self, peer: Peer, frame: Waiting) -> bool:
        """Queue the frame if earlier ones of its share wait; whether it was."""
        key = (frame.probe_id, peer.node_id)
        known = self._queues.get(key)
        if known is None:
            return False
        if known[0].fencing_token < peer.fencing_token:
            # All of it is said again on the newer connection.
            del self._queues[key]
            return False
        if known[0] is peer:
            self.add(peer, frame)
        return True

    def add(self, peer: Peer, frame: Waiting) -> None:
        """Let the frame wait; with one too many the agent is let go, and sends all of it again."""
        _, frames = self._queues.get((frame.probe_id, peer.node_id), (peer, deque[Waiting]()))
        if len(frames) >= _MOST_FRAMES:
            peer.close(CloseCode.GOING_AWAY, "The server cannot store more of this now; connect again.")
            return
        frames.append(frame)
        self._queues[frame.probe_id, peer.node_id] = peer, frames

    def queues(self) -> Sequence[tuple[Peer, deque[Waiting]]]:
        """Who waits, with what."""
        return list(self._queues.values())

    def forget(self, node_id: str, but_of: Peer | None = None) -> None:
        """The node's connection has ended, or a newer one has come: what it says is said again there."""
        self._queues = {
            key: queue for key, queue in self._queues.items() if key[1] != node_id or queue[0] is but_of
        }

    def tidy(self) -> None:
        """Forget queues that are empty."""
        self._queues = {key: queue for key, queue in self._queues.items() if queue[1]}
