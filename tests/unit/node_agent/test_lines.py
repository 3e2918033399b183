from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_agent.probes.lines import LineSplitter, printable


def split(*chunks: bytes, line_bytes: int = 100) -> list[str]:
    splitter = LineSplitter(line_bytes)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.finish()


class TestLineSplitter:
    @pytest.mark.parametrize(
        ("data", "lines"),
        [
            (b"", []),
            (b"a\nb\n", ["a", "b"]),
            (b"a\nb", ["a", "b"]),
            (b"\na\n\nb\n", ["", "a", "", "b"]),
            (b"a\r\nb\r\n", ["a", "b"]),
            (b"10%\r20%\r30%\n", ["10%", "20%", "30%"]),
            (b"\r\r10%\r\r\n", ["10%"]),
            (b"\r\na\r\n\r\nb", ["", "a", "", "b"]),
            (b"a\x00b\x1b[2J\x7f\tc\n", ["a\\x00b\\x1b[2J\\x7f\tc"]),
            (b"\xff\xc3\n", ["\ufffd\ufffd"]),
            ("é\n".encode(), ["é"]),
            (b"\xc2\x9b\n", ["\\x9b"]),
        ],
    )
    def test_cuts_at_every_kind_of_line_end(self, data: bytes, lines: list[str]) -> None:
        assert split(data) == lines

    def test_cuts_a_long_line_and_says_how_much_is_missing(self) -> None:
        assert split(b"x" * 25 + b"\nnext\n", line_bytes=10) == ["x" * 10 + " … [15 bytes cut]", "next"]
        assert split(b"x" * 10 + b"\n", line_bytes=10) == ["x" * 10]

    def test_does_not_cut_through_a_character(self) -> None:
        assert split("ab€€\n".encode(), line_bytes=4) == ["ab … [6 bytes cut]"]
        assert split("a€€\n".encode(), line_bytes=4) == ["a€ … [3 bytes cut]"]

    def test_keeps_no_more_than_the_limit(self) -> None:
        splitter = LineSplitter(10)
        for _ in range(1000):
            splitter.feed(b"x" * 1000)
        assert len(splitter._kept) == 10
        assert splitter.finish() == ["x" * 10 + " … [999990 bytes cut]"]

    @settings(deadline=None)
    @given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
    def test_does_not_depend_on_how_the_bytes_arrive(self, data: bytes, cuts: list[int]) -> None:
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        chunks = [data[start:end] for start, end in pairwise(edges)]
        assert split(*chunks, line_bytes=8) == split(data, line_bytes=8)

    @settings(deadline=None)
    @given(st.binary(max_size=200))
    def test_gives_only_harmless_text(self, data: bytes) -> None:
        for line in split(data):
            assert all(character == "\t" or ord(character) >= 0x20 for character in line)
            line.encode()


def test_printable_keeps_ordinary_text() -> None:
    assert printable("路由 ✓".encode()) == "路由 ✓"
