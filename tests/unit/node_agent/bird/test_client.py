"""The client against a real BIRD, and against sockets that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from node_agent.bird.client import conversing
from node_agent.bird.errors import (
    BirdRefused,
    BirdReplyTooLarge,
    BirdSpokeStrangely,
    BirdTookTooLong,
    BirdUnreachable,
    BirdWentAway,
)
from shared.testing.servers.bird import BirdServer

CONFIGURATION = """
router id 172.20.99.1;
define RL_CONFIG = "1-abcdefabcdef";
protocol device rl_device { }
protocol static rl_own4 { ipv4; route 172.20.99.0/26 reject; }
"""
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[BirdServer]:
    configuration = tmp_path / "bird.conf"
    configuration.write_text(CONFIGURATION)
    server = BirdServer(tmp_path, configuration)
    server.start()
    yield server
    server.stop()


async def test_a_real_bird_answers(bird: BirdServer) -> None:
    async with conversing(bird.socket) as conversation:
        assert (await conversation.command("eval RL_CONFIG")).text == "1-abcdefabcdef"
        assert (await conversation.ask('show protocols "nobody*"')).code == 8003
        counted = await asyncio.gather(*(conversation.ask("show route count") for _ in range(20)))
        assert {reply.code for reply in counted} == {14}


async def test_a_restricted_conversation_changes_nothing(bird: BirdServer) -> None:
    async with conversing(bird.socket, restricted=True) as conversation:
        with pytest.raises(BirdRefused, match="Access denied"):
            await conversation.command("configure")
        assert not (await conversation.command("eval RL_CONFIG")).failed


async def test_a_refusal_carries_birds_own_words(bird: BirdServer) -> None:
    async with conversing(bird.socket) as conversation:
        with pytest.raises(BirdRefused, match="syntax error"):
            await conversation.command("show everything")


@pytest.mark.parametrize("command", ["show status\ndisable all", "x" * 4001, "show \x00"])
async def test_a_command_is_one_line(bird: BirdServer, command: str) -> None:
    async with conversing(bird.socket) as conversation:
        with pytest.raises(BirdRefused, match="one line"):
            await conversation.ask(command)


async def test_a_daemon_that_dies_is_noticed(bird: BirdServer) -> None:
    async with conversing(bird.socket) as conversation:
        bird.kill()
        with pytest.raises(BirdWentAway):
            await conversation.ask("show status")
    with pytest.raises(BirdUnreachable, match="Is bird running"):
        async with conversing(bird.socket):
            pass


async def test_a_daemon_that_hangs_is_left(bird: BirdServer) -> None:
    async with conversing(bird.socket, seconds=0.3) as conversation:
        bird.pause()
        with pytest.raises(BirdTookTooLong):
            await conversation.ask("show status")
        bird.resume()
        with pytest.raises(BirdWentAway):
            await conversation.ask("show status")


async def test_an_end_in_mid_reply_is_no_short_success(tmp_path: Path) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"0001 BIRD ready.\n1002-half\n")
        writer.close()

    await _expect(tmp_path, serve, BirdWentAway)


async def test_an_endless_answer_is_cut(tmp_path: Path) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"0001 BIRD ready.\n")
        for _count in range(100):
            writer.write((b"1007-" + b"x" * 250 + b"\n") * 500)
            await writer.drain()

    await _expect(tmp_path, serve, BirdReplyTooLarge)


async def test_another_server_is_recognised(tmp_path: Path) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n")
        await writer.drain()

    await _expect(tmp_path, serve, BirdSpokeStrangely)


async def test_an_answer_cut_by_a_reconfiguration_is_asked_for_again(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"0001 BIRD ready.\n")
        await reader.readline()
        writer.write(b"1002-a\n8004 Stopped due to reconfiguration\n")
        await reader.readline()
        writer.write(b"1002-a\n1002-b\n0000 \n")
        await writer.drain()
        await reader.read()
        writer.close()
        await writer.wait_closed()

    path = tmp_path / "bird.ctl"
    async with await asyncio.start_unix_server(serve, path), conversing(path) as conversation:
        assert (await conversation.ask("show protocols")).texts(1002) == ["a", "b"]


async def _expect(directory: Path, serve: Serve, error: type[Exception]) -> None:
    path = directory / "bird.ctl"

    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await serve(reader, writer)
            await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_unix_server(quietly, path):
        with pytest.raises(error):
            async with conversing(path) as conversation:
                await conversation.ask("show protocols")
