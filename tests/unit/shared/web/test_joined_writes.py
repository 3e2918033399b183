"""The head of a response and its body go out together, and nothing waits longer than the loop's turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from shared.web.joined_writes import JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Line(asyncio.Transport):
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        super().__init__({"sslcontext": "none"})
        self.written: list[bytes] = []
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview[Any]]) -> None:
        self.written += [bytes(data) for data in list_of_data]

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True


@pytest.fixture
async def line() -> Line:
    return Line()


@pytest.fixture
async def joined(line: Line) -> JoinedWrites:
    return JoinedWrites(line, asyncio.get_running_loop())


async def turn() -> None:
    await asyncio.sleep(0)


async def test_a_head_goes_out_with_its_body(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    assert line.written == []
    joined.write(b"body")
    assert line.written == [HEAD + b"body"]
    await turn()
    assert line.written == [HEAD + b"body"]


async def test_a_head_without_a_body_goes_out_at_the_end_of_the_turn(
    line: Line, joined: JoinedWrites
) -> None:
    joined.write(HEAD)
    await turn()
    assert line.written == [HEAD]
    joined.write(b"later")
    assert line.written == [HEAD, b"later"]


async def test_a_large_body_is_not_copied(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write(bytes(100_000))
    assert line.written == [HEAD, bytes(100_000)]


async def test_two_answers_in_one_turn_keep_their_order(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.write(b"1")
    joined.write(HEAD)
    joined.writelines([b"2", b"3"])
    await turn()
    assert b"".join(line.written) == HEAD + b"1" + HEAD + b"23"


async def test_what_is_kept_back_is_sent_before_the_end(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.close()
    assert (line.written, joined.is_closing()) == ([HEAD], True)
    await turn()
    assert line.written == [HEAD]


async def test_nothing_is_sent_to_a_connection_that_is_gone(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    line.closing = True
    await turn()
    assert line.written == []


async def test_an_abort_drops_what_is_kept_back(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    joined.abort()
    await turn()
    assert line.written == []


async def test_another_protocol_gets_the_transport_itself(line: Line, joined: JoinedWrites) -> None:
    joined.write(HEAD)
    assert joined.bare() is line
    assert line.written == [HEAD]
    assert joined.get_extra_info("sslcontext") == "none"
