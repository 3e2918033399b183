"""The description of the interface, for many who ask at first."""

import asyncio
from threading import Lock
from typing import Any

import httpx2
from fastapi import FastAPI

from shared.web.openapi import api_reference_router


class Described(FastAPI):
    """An application that knows how often it was described, and whether by two at once."""

    lock = Lock()
    times = 0
    by_two = False

    def openapi(self) -> dict[str, Any]:
        if not self.lock.acquire(blocking=False):
            self.by_two = True
            return {}
        try:
            self.times += 1
            return super().openapi()
        finally:
            self.lock.release()


async def test_it_is_made_by_one_at_a_time() -> None:
    app = Described(title="fleet", openapi_url=None)
    app.include_router(api_reference_router("", "control"))
    app.get("/nodes/{node}")(lambda node: {"node": node})
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answers = await asyncio.gather(*(http.get("/openapi.json") for _ in range(8)))
        assert {answer.status_code for answer in answers} == {200}
        assert all("/nodes/{node}" in answer.json()["paths"] for answer in answers)
        assert not app.by_two
        made = app.times
        await http.get("/openapi.json")
    assert app.times == made
