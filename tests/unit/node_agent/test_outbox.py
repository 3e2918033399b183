from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_agent.probes.outbox import BATCH_SECONDS, Outbox, Parcel
from shared.protocol.base import Frame
from shared.protocol.frames import (
    MAX_FRAME_BYTES,
    ProbeAccepted,
    ProbeDone,
    ProbeOutput,
)
from shared.protocol.probes import OutputStream

PROBE = UUID(int=1)


def sequence(frames: list[Frame]) -> list[int]:
    return [line.seq for frame in frames if isinstance(frame, ProbeOutput) for line in frame.lines]


def drain(outbox: Outbox, now: float) -> list[Frame]:
    sent: list[Frame] = []
    while frames := outbox.due(now)[0]:
        sent += frames
    return sent


def say(parcel: Parcel, count: int, text: str = "text") -> None:
    for _ in range(count):
        parcel.add(OutputStream.STDOUT, text)


class TestBatches:
    async def test_sends_the_first_line_at_once_and_the_next_together(self) -> None:
        outbox = Outbox(1000)
        parcel = outbox.open(PROBE)
        say(parcel, 1)
        assert sequence(outbox.due(10.0)[0]) == [1]
        say(parcel, 3)
        frames, wait = outbox.due(10.0)
        assert frames == []
        assert wait == pytest.approx(BATCH_SECONDS)
        assert sequence(outbox.due(10.0 + BATCH_SECONDS)[0]) == [2, 3, 4]

    async def test_sends_a_full_batch_without_waiting(self) -> None:
        outbox = Outbox(1000)
        parcel = outbox.open(PROBE)
        say(parcel, 1)
        outbox.due(10.0)
        say(parcel, 50)
        assert sequence(outbox.due(10.0)[0]) == list(range(2, 52))

    async def test_sends_the_rest_and_the_end_without_waiting(self) -> None:
        outbox = Outbox(10000)
        parcel = outbox.open(PROBE)
        parcel.accept(ProbeAccepted(probe_id=PROBE))
        say(parcel, 120)
        parcel.finish(ProbeDone(probe_id=PROBE))
        frames = drain(outbox, 10.0)
        assert isinstance(frames[0], ProbeAccepted)
        assert sequence(frames) == list(range(1, 121))
        assert isinstance(frames[-1], ProbeDone)
        assert frames[-1].last_seq == 120
        assert outbox.due(99.0) == ([], None)

    async def test_a_batch_of_the_worst_lines_fits_a_frame(self) -> None:
        outbox = Outbox(10**9)
        parcel = outbox.open(PROBE)
        say(parcel, 60, '"' * 32_768)
        parcel.finish(ProbeDone(probe_id=PROBE))
        frames = drain(outbox, 10.0)
        assert sequence(frames) == list(range(1, 61))
        assert max(len(frame.model_dump_json()) for frame in frames) <= MAX_FRAME_BYTES


class TestStored:
    async def test_a_new_link_repeats_what_is_not_stored_under_its_old_numbers(self) -> None:
        outbox = Outbox(1000)
        parcel = outbox.open(PROBE)
        say(parcel, 5)
        drain(outbox, 10.0)
        outbox.stored(PROBE, 3, final=False)
        outbox.rewind()
        assert sequence(drain(outbox, 20.0)) == [4, 5]

    async def test_forgets_a_probe_only_when_its_end_is_stored(self) -> None:
        outbox = Outbox(1000)
        parcel = outbox.open(PROBE)
        say(parcel, 1)
        outbox.stored(PROBE, 1, final=True)
        assert PROBE in outbox
        parcel.finish(ProbeDone(probe_id=PROBE))
        outbox.stored(PROBE, 1, final=True)
        assert PROBE not in outbox
        outbox.stored(PROBE, 1, final=True)

    async def test_a_wrong_acknowledgement_loses_nothing_to_come(self) -> None:
        outbox = Outbox(1000)
        parcel = outbox.open(PROBE)
        say(parcel, 2)
        outbox.stored(PROBE, 999, final=False)
        say(parcel, 2)
        assert sequence(drain(outbox, 10.0)) == [3, 4]

    async def test_counts_what_waits(self) -> None:
        outbox = Outbox(100)
        parcel = outbox.open(PROBE)
        say(parcel, 3, "x" * 40)
        assert outbox.full
        outbox.stored(PROBE, 1, final=False)
        assert not outbox.full

    async def test_gives_up_the_oldest_ended_probes(self) -> None:
        outbox = Outbox(1000)
        running = outbox.open(UUID(int=999))
        for number in range(200):
            probe_id = UUID(int=number)
            outbox.open(probe_id).finish(ProbeDone(probe_id=probe_id))
        assert len(outbox) <= 66
        assert running.probe_id in outbox
        assert UUID(int=199) in outbox
        assert UUID(int=0) not in outbox


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 70)),
        st.tuples(st.just("send"), st.integers(0, 3)),
        st.tuples(st.just("store"), st.integers(0, 200)),
        st.tuples(st.just("relink"), st.just(0)),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(STEPS)
async def test_a_server_that_drops_repeats_gets_every_line_once_in_order(
    steps: list[tuple[str, int]],
) -> None:
    outbox = Outbox(10**9)
    parcel = outbox.open(PROBE)
    stored = 0
    now = 0.0

    def receive(frames: list[Frame]) -> None:
        nonlocal stored
        for seq in sequence(frames):
            assert seq <= stored + 1, "a line was left out"
            stored = max(stored, seq)

    for step, amount in steps:
        if step == "say":
            say(parcel, amount)
        elif step == "send":
            now += amount * BATCH_SECONDS
            receive(outbox.due(now)[0])
        elif step == "store":
            outbox.stored(PROBE, min(amount, stored), final=False)
        else:
            outbox.rewind()
    parcel.finish(ProbeDone(probe_id=PROBE))
    receive(drain(outbox, now))
    assert stored == parcel.last_seq
