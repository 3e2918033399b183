"""What is owed to the server: each probe's lines until they are stored there, over any number of links."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.protocol.base import Frame
from shared.protocol.frames import (
    MAX_BATCH_LINES,
    OutputLine,
    ProbeAccepted,
    ProbeDone,
    ProbeOutput,
)

if TYPE_CHECKING:
    from uuid import UUID

    from shared.protocol.probes import OutputStream

#: The first line goes at once; after it a batch waits this long, or until it is full.
BATCH_SECONDS = 0.1
#: JSON may write one byte of a line as six, and a frame has 256 KiB.
_BATCH_BYTES = 32_768
#: Ended probes that the server has not acknowledged; beyond that the oldest are given up.
_ENDED_KEPT = 64


@dataclass(slots=True, eq=False)
class Parcel:
    """One probe's share: what it said, what was sent on this link, what the server has stored."""

    probe_id: UUID
    changed: asyncio.Event
    accepted: ProbeAccepted | None = None
    done: ProbeDone | None = None
    lines: deque[OutputLine] = field(default_factory=deque)
    waiting_bytes: int = 0
    last_seq: int = 0
    sent_seq: int = 0
    stored_seq: int = 0
    accepted_sent: bool = False
    done_sent: bool = False
    batch_at: float = 0.0

    def accept(self, frame: ProbeAccepted) -> None:
        """Say that the tool runs."""
        self.accepted = frame
        self.changed.set()

    def add(self, stream: OutputStream, text: str) -> None:
        """Number the line and queue it."""
        self.last_seq += 1
        self.lines.append(OutputLine(seq=self.last_seq, stream=stream, text=text))
        self.waiting_bytes += len(text)
        self.changed.set()

    def finish(self, frame: ProbeDone) -> None:
        """Queue the end, after every line."""
        self.done = frame.model_copy(update={"last_seq": self.last_seq})
        self.changed.set()

    def stored(self, seq: int) -> None:
        """Forget the lines up to `seq`."""
        self.stored_seq = max(self.stored_seq, min(seq, self.last_seq))
        self.sent_seq = max(self.sent_seq, self.stored_seq)
        while self.lines and self.lines[0].seq <= self.stored_seq:
            self.waiting_bytes -= len(self.lines.popleft().text)

    def rewind(self) -> None:
        """A new link: send again what is not known to be stored."""
        self.sent_seq = self.stored_seq
        self.accepted_sent = self.done_sent = False
        self.batch_at = 0.0

    def due(self, now: float) -> list[Frame]:
        """The frames to send now; they count as sent on this link."""
        frames: list[Frame] = []
        if self.accepted is not None and not self.accepted_sent:
            self.accepted_sent = True
            frames.append(self.accepted)
        if self.wait(now) == 0.0:
            batch = self._batch()
            self.sent_seq = batch[-1].seq
            self.batch_at = now + BATCH_SECONDS
            frames.append(ProbeOutput(probe_id=self.probe_id, lines=batch))
        if self.done is not None and not self.done_sent and self.sent_seq == self.last_seq:
            self.done_sent = True
            frames.append(self.done)
        return frames

    def wait(self, now: float) -> float | None:
        """Seconds until the next batch is due; None when no line waits."""
        waiting = self.last_seq - self.sent_seq
        if waiting == 0:
            return None
        if waiting >= MAX_BATCH_LINES or self.done is not None:
            return 0.0
        return max(0.0, self.batch_at - now)

    def _batch(self) -> tuple[OutputLine, ...]:
        first = self.sent_seq - self.stored_seq
        batch: list[OutputLine] = []
        size = 0
        for index in range(first, min(first + MAX_BATCH_LINES, len(self.lines))):
            size += len(self.lines[index].text)
            if batch and size > _BATCH_BYTES:
                break
            batch.append(self.lines[index])
        return tuple(batch)


class Outbox:
    """The parcels of all probes that the server has not wholly stored."""

    def __init__(self, capacity_bytes: int) -> None:
        self.changed = asyncio.Event()
        self._capacity = capacity_bytes
        self._parcels: dict[UUID, Parcel] = {}

    def __contains__(self, probe_id: object) -> bool:
        """Whether the probe is known here."""
        return probe_id in self._parcels

    def __len__(self) -> int:
        """How many probes are owed."""
        return len(self._parcels)

    @property
    def full(self) -> bool:
        """Whether the server has been away for longer than its output can be kept."""
        return sum(parcel.waiting_bytes for parcel in self._parcels.values()) >= self._capacity

    def open(self, probe_id: UUID) -> Parcel:
        """Begin a probe's share."""
        ended = [parcel.probe_id for parcel in self._parcels.values() if parcel.done is not None]
        for old in ended[: max(0, len(ended) + 1 - _ENDED_KEPT)]:
            del self._parcels[old]
        parcel = Parcel(probe_id=probe_id, changed=self.changed)
        self._parcels[probe_id] = parcel
        return parcel

    def stored(self, probe_id: UUID, seq: int, *, final: bool) -> None:
        """The server has the lines up to `seq`; with `final` also the end."""
        parcel = self._parcels.get(probe_id)
        if parcel is None:
            return
        parcel.stored(seq)
        if final and parcel.done is not None:
            del self._parcels[probe_id]

    def forget(self, probe_id: UUID) -> None:
        """The server wants nothing more of this probe."""
        self._parcels.pop(probe_id, None)

    def repeat(self, probe_id: UUID) -> None:
        """Send a probe's share again, because the server asked for the probe again."""
        if parcel := self._parcels.get(probe_id):
            parcel.rewind()
            self.changed.set()

    def rewind(self) -> None:
        """A new link is up: everything that is not known to be stored is due again."""
        for parcel in self._parcels.values():
            parcel.rewind()
        self.changed.set()

    def due(self, now: float) -> tuple[list[Frame], float | None]:
        """One turn of every probe's frames, and how long to wait when there are none."""
        self.changed.clear()
        frames = [frame for parcel in self._parcels.values() for frame in parcel.due(now)]
        waits = [wait for parcel in self._parcels.values() if (wait := parcel.wait(now)) is not None]
        return frames, min(waits, default=None)
