"""HEAD: the headers of GET and nothing else, and no link is spent by it."""

import asyncio
from typing import Any

import httpx2

from shared.web.head import HeadAsGet

HTTP = {"type": "http", "method": "HEAD", "path": "/stream", "headers": []}


async def test_a_head_answers_as_get_without_a_body(client: httpx2.AsyncClient) -> None:
    got, head = await client.get("/livez"), await client.head("/livez")
    assert head.status_code == got.status_code == 200
    assert head.headers["content-length"] == got.headers["content-length"]
    assert head.content == b""


async def test_a_head_is_refused_like_a_get(client: httpx2.AsyncClient) -> None:
    assert (await client.head("/operators-only")).status_code == 401
    assert (await client.head("/nowhere")).status_code == 404


async def test_a_head_spends_nothing(client: httpx2.AsyncClient) -> None:
    answer = await client.head("/spent")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


async def test_an_answer_without_an_end_ends_with_its_headers() -> None:
    async def endless(scope: Any, receive: Any, send: Any) -> None:
        assert scope["method"] == "GET"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"retry: 1", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def asked() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    async with asyncio.timeout(20):
        await HeadAsGet(endless)(dict(HTTP), asked, keep)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert not sent[-1].get("body")
