"""The server's protocol over real connections: answers, streams, sockets, and what comes before a body."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect

from shared.web.server import Server, server_config
from shared.web.settings import WebSettings

#: The stream's second part comes after its first was seen.
go_on = asyncio.Event()


async def echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def stream(_request: Request) -> Response:
    async def parts() -> AsyncIterator[str]:
        yield "first"
        await go_on.wait()
        yield "second"

    return StreamingResponse(parts())


async def socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(await websocket.receive_text())
    await websocket.close()


async def nothing() -> None:
    """Nobody is told that the server stops."""


@pytest.fixture
async def port() -> AsyncIterator[int]:
    routes = [
        Route("/echo", echo, methods=["POST"]),
        Route("/stream", stream),
        WebSocketRoute("/socket", socket),
    ]
    settings = WebSettings.model_validate({"port": 0})
    server = Server(server_config(Starlette(routes=routes), settings), nothing)
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        await server.ready.wait()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.stop()
        await serving


def post(body: bytes, more: bytes = b"") -> bytes:
    return b"POST /echo HTTP/1.1\r\nHost: localhost\r\n%bContent-Length: %d\r\n\r\n" % (more, len(body))


async def test_answers_keep_their_order_on_one_connection(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(post(b"one") + b"one" + post(b"two") + b"two")
        async with asyncio.timeout(20):
            for body in (b"one", b"two"):
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 ")
                assert await reader.readexactly(3) == body
    await writer.wait_closed()


async def test_a_client_that_waits_for_leave_to_send_gets_it(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(post(b"one", b"Expect: 100-continue\r\n"))
        async with asyncio.timeout(20):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"one")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(3) == b"one"
    await writer.wait_closed()


async def test_a_stream_is_not_kept_back(port: int) -> None:
    go_on.clear()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(20):
            await reader.readuntil(b"5\r\nfirst\r\n")
            go_on.set()
            await reader.readuntil(b"6\r\nsecond\r\n0\r\n\r\n")
    await writer.wait_closed()


async def test_a_socket_is_upgraded(port: int) -> None:
    async with asyncio.timeout(20), connect(f"ws://127.0.0.1:{port}/socket", proxy=None) as opened:
        await opened.send("hello")
        assert await opened.recv() == "hello"
