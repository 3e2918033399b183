"""Frames that wait are those of the node's newest connection."""

from dataclasses import dataclass
from uuid import uuid4

from control_server.probes.service.stalled import StalledFrames
from shared.protocol.base import Frame
from shared.protocol.frames import CloseCode, OutputLine, ProbeOutput


@dataclass(frozen=True)
class Socket:
    fencing_token: int
    node_id: str = "alpha"

    def send(self, frame: Frame) -> bool:
        raise AssertionError(frame)

    def close(self, code: CloseCode, reason: str) -> None:
        raise AssertionError(code, reason)


def test_what_waits_of_an_older_connection_gives_way_to_the_newer_one() -> None:
    frame = ProbeOutput(probe_id=uuid4(), lines=[OutputLine(seq=1, text="one")])
    stalled, older, newer = StalledFrames(), Socket(1), Socket(2)
    stalled.add(older, frame)
    assert stalled.waits_behind(older, frame)
    assert not stalled.waits_behind(newer, frame)
    assert list(stalled.queues()) == []
    stalled.add(newer, frame)
    assert stalled.waits_behind(older, frame)
    assert [(peer, len(frames)) for peer, frames in stalled.queues()] == [(newer, 1)]
