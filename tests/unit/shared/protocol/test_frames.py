"""Frames: versions may differ in either direction, and nothing malformed passes."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.protocol.frames import (
    AGENT_FRAME,
    AGENT_FRAME_TYPES,
    MAX_BATCH_LINES,
    SERVER_FRAME,
    SERVER_FRAME_TYPES,
    AgentHello,
    Heartbeat,
    ProbeOutput,
    ProbeStart,
)
from shared.protocol.probes import OutputStream, Tool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_fields_of_a_newer_peer_are_ignored() -> None:
    hello = AGENT_FRAME.validate_python({"type": "hello", "agent_version": "9.9", "colour": "blue"})
    assert isinstance(hello, AgentHello)


def test_a_single_line_may_stand_in_the_frame_itself() -> None:
    ident = uuid4()
    frame = AGENT_FRAME.validate_python(
        {"type": "probe_output", "probe_id": str(ident), "seq": 3, "stream": "stderr", "text": "x"}
    )
    assert isinstance(frame, ProbeOutput)
    assert [(line.seq, line.stream, line.text) for line in frame.lines] == [(3, OutputStream.STDERR, "x")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "probe_output", "probe_id": "no-uuid", "lines": [{"seq": 1, "text": "x"}]},
        {"type": "probe_output", "probe_id": str(uuid4()), "lines": []},
        {"type": "probe_output", "probe_id": str(uuid4()), "lines": [{"seq": 0, "text": "x"}]},
        {
            "type": "probe_output",
            "probe_id": str(uuid4()),
            "lines": [{"seq": n + 1, "text": "x"} for n in range(MAX_BATCH_LINES + 1)],
        },
        {"type": "heartbeat", "agent_version": "1", "uptime_seconds": -1},
        {"type": "probe_done", "probe_id": str(uuid4()), "error": "made_up"},
        {"type": "nothing"},
        {},
    ],
)
def test_a_malformed_frame_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AGENT_FRAME.validate_python(wrong)


@given(st.sampled_from(sorted(AGENT_FRAME_TYPES)), st.dictionaries(st.text(), JSON, max_size=6))
def test_no_json_breaks_the_parser(kind: str, fields: dict[str, object]) -> None:
    try:
        frame = AGENT_FRAME.validate_python({**fields, "type": kind})
    except ValidationError:
        return
    assert frame.type == kind


def test_every_frame_survives_the_wire() -> None:
    start = ProbeStart(probe_id=uuid4(), tool=Tool.PING, target="192.0.2.1")
    assert SERVER_FRAME.validate_json(start.model_dump_json()) == start
    beat = Heartbeat(agent_version="0.1.0", uptime_seconds=1.5)
    assert AGENT_FRAME.validate_json(beat.model_dump_json()) == beat


def test_the_lists_of_types_are_those_of_the_frames() -> None:
    for adapter, names in ((AGENT_FRAME, AGENT_FRAME_TYPES), (SERVER_FRAME, SERVER_FRAME_TYPES)):
        mapping = adapter.json_schema()["discriminator"]["mapping"]
        assert set(mapping) == names
