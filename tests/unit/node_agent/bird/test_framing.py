"""The framing reader, byte by byte and at its limits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_agent.bird.errors import BirdReplyTooLarge, BirdSpokeStrangely
from node_agent.bird.framing import Line, Reply, ReplyReader
from tests.unit.node_agent.bird.reading import CORPUS

SAMPLES = [path.read_bytes() for path in sorted(CORPUS.glob("*.txt"))]
GREETING = b"0001 BIRD 2.0.12 ready.\n"


def all_replies(chunks: list[bytes]) -> list[Reply]:
    reader = ReplyReader()
    return [reply for chunk in chunks for reply in reader.feed(chunk)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_byte_at_a_time_is_the_same(sample: bytes) -> None:
    assert all_replies([bytes([byte]) for byte in sample]) == all_replies([sample])


@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=4), st.data())
@settings(max_examples=60, deadline=None)
def test_any_cut_is_the_same(samples: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(samples)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert all_replies(chunks) == [reply for sample in samples for reply in all_replies([sample])]


def test_two_replies_in_one_packet() -> None:
    first, second = all_replies([b"0009-edge1: disabled\n0000 \n8003 No protocols match\n"])
    assert (first.code, first.text, first.failed) == (0, "edge1: disabled", False)
    assert (second.code, second.failed) == (8003, True)


def test_the_last_line_has_a_blank_whatever_its_code() -> None:
    (status,) = all_replies([b"1000-BIRD 2.0.12\n1011-Router ID is 172.20.99.1\n Hostname is r1\n0013 Up\n"])
    assert status.code == 13
    assert status.texts(1011) == ["Router ID is 172.20.99.1", "Hostname is r1"]


def test_a_line_said_by_the_way_is_no_part_of_the_reply() -> None:
    reader = ReplyReader()
    (reply,) = reader.feed(b"1002-a\n+Config timeout expired, starting undo\n b\n0000 \n")
    assert reply.lines == (Line(1002, "a"), Line(1002, "b"), Line(0, ""))
    assert reader.asides == ["Config timeout expired, starting undo"]


def test_an_overflow_inside_is_no_failure() -> None:
    (reply,) = all_replies([b"1002-a\n8000-<line overflow>\n1002-b\n0000 \n"])
    assert not reply.failed
    assert reply.texts(1002) == ["a", "b"]


def test_a_reply_cut_by_a_reconfiguration_says_so() -> None:
    (reply,) = all_replies([b"1002-a\n8004 Stopped due to reconfiguration\n"])
    assert reply.partial


def test_a_split_greeting_and_a_character_cut_in_half() -> None:
    assert all_replies([GREETING[:9], GREETING[9:]])[0].code == 1
    (reply,) = all_replies([b"1006-  Description:    Z\xc3\n0000 \n"])
    assert reply.lines[0].text == "  Description:    Z\ufffd"


def test_only_one_blank_of_an_indent_is_taken() -> None:
    (reply,) = all_replies([b"1006-a\n     b\n \n0000 \n"])
    assert [line.text for line in reply.lines] == ["a", "    b", "", ""]


def test_what_has_begun_is_known() -> None:
    reader = ReplyReader()
    reader.feed(b"1002-a\n")
    assert reader.amid
    reader.feed(b"0000 \n")
    assert not reader.amid


def test_a_reply_of_five_megabytes_is_refused() -> None:
    reader, route = ReplyReader(), b"1007-" + b"x" * 250 + b"\n"
    with pytest.raises(BirdReplyTooLarge):
        for _ in range(6):
            reader.feed(route * 4096)


@pytest.mark.parametrize("stranger", [b"HTTP/1.1 400 Bad Request\n", b" continued\n", b"x" * 70_000])
def test_another_protocol_is_recognised(stranger: bytes) -> None:
    with pytest.raises(BirdSpokeStrangely):
        ReplyReader().feed(stranger)


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_noise_is_read_or_refused(noise: bytes) -> None:
    try:
        replies = ReplyReader().feed(noise)
    except BirdSpokeStrangely:
        return
    assert all(reply.lines for reply in replies)
