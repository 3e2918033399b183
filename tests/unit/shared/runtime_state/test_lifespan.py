"""The start and the end: what is announced, what is refused with which exit, what an endpoint receives."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
import structlog
from fastapi import Depends, FastAPI, WebSocket
from starlette.testclient import TestClient

from shared.runtime_state import (
    Deployment,
    RuntimeStateConfigurationError,
    RuntimeStateSettings,
    create_runtime_state_client,
    serving_runtime_state,
)
from shared.runtime_state.client import RedisRuntimeClient, get_redis_runtime_client

ROOT = Path(__file__).resolve().parents[4]
SQLITE = Deployment("sqlite+aiosqlite://")
APPLICATION = """
import os
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from shared.runtime_state import Deployment, RuntimeStateSettings, serving_runtime_state


@asynccontextmanager
async def lifespan(app):
    deployment = Deployment(os.environ["DATABASE_URL"], environment=os.environ)
    async with serving_runtime_state(RuntimeStateSettings(), deployment):
        yield


app = Starlette(lifespan=lifespan)
"""


def settings(url: str) -> RuntimeStateSettings:
    return RuntimeStateSettings.model_validate({"REDIS_URL": url, "REDIS_KEY_PREFIX": "planted-prefix:"})


class TestStart:
    async def test_memory_is_announced_and_swept(self) -> None:
        before = asyncio.all_tasks()
        with structlog.testing.capture_logs() as logs:
            async with serving_runtime_state(settings("memory://lite"), SQLITE) as client:
                assert len(asyncio.all_tasks() - before) == 1
                assert (client.backend_name, client.ephemeral) == ("memory", True)
                await client.set("k", "v")
        assert asyncio.all_tasks() == before
        assert logs == [
            {
                "event": "runtime_state.startup",
                "log_level": "info",
                "backend": "memory",
                "instance": "lite",
                "ephemeral": True,
                "single_process": True,
                "sweep_interval_seconds": 30,
            }
        ]

    async def test_c27_a_server_is_announced_without_address_or_password_and_not_asked(self) -> None:
        before = asyncio.all_tasks()
        url = "redis://user:planted-secret@planted-host.example:6399/7"
        with structlog.testing.capture_logs() as logs:
            async with serving_runtime_state(settings(url), SQLITE) as client:
                assert asyncio.all_tasks() == before
                assert (client.backend_name, client.ephemeral) == ("redis", False)
        assert logs[0]["event"] == "runtime_state.startup"
        assert logs[0]["backend"] == "redis"
        assert logs[0]["single_process"] is False
        assert "planted" not in str(logs)
        assert "6399" not in str(logs)

    async def test_a_refused_deployment_opens_nothing(self) -> None:
        before = asyncio.all_tasks()
        with structlog.testing.capture_logs() as logs, pytest.raises(RuntimeStateConfigurationError):
            async with serving_runtime_state(settings("memory://lite"), Deployment("postgresql://x")):
                pytest.fail("served")
        assert logs == []
        assert asyncio.all_tasks() == before


class TestExit:
    def _serve(self, directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        (directory / "refused_application.py").write_text(APPLICATION, encoding="utf-8")
        command = [sys.executable, "-m", "uvicorn", "refused_application:app", "--port", "0"]
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return subprocess.run(
            command,
            cwd=directory,
            env=kept | {"PYTHONPATH": str(ROOT)} | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def test_a_server_process_that_must_not_start_says_why_and_exits_with_failure(
        self, tmp_path: Path
    ) -> None:
        done = self._serve(tmp_path, REDIS_URL="memory://lite", DATABASE_URL="postgresql://:planted-secret@x")
        assert done.returncode == 3
        assert "With PostgreSQL, set REDIS_URL to redis://" in done.stderr
        assert "planted-secret" not in done.stdout + done.stderr

    def test_a_url_with_a_password_is_not_repeated(self, tmp_path: Path) -> None:
        done = self._serve(tmp_path, REDIS_URL="redis://:planted-secret@h/x", DATABASE_URL="sqlite://")
        assert done.returncode == 3
        assert "REDIS_URL takes one database number" in done.stderr
        assert "planted-secret" not in done.stdout + done.stderr


class TestDependency:
    def test_requests_and_sockets_receive_the_client_of_the_application(self) -> None:
        app = FastAPI()
        client = create_runtime_state_client("memory://lite", prefix="p:")
        app.state.resources = SimpleNamespace(runtime_state=client)
        given = Annotated[RedisRuntimeClient, Depends(get_redis_runtime_client)]

        @app.get("/same")
        async def same(state: given) -> bool:
            return state is client

        @app.websocket("/socket")
        async def socket(connection: WebSocket, state: given) -> None:
            await connection.accept()
            await connection.send_json(state is client)
            await connection.close()

        with TestClient(app) as browser:
            assert browser.get("/same").json() is True
            with browser.websocket_connect("/socket") as opened:
                assert opened.receive_json() is True
