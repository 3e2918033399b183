from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from tests.unit.shared.web.service import build


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    built = build(tmp_path)
    async with built.router.lifespan_context(built):
        yield built


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8420") as opened:
        yield opened
