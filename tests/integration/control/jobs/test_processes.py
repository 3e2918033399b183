"""Worker processes that are killed and stopped: the job is done once in effect."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from control_server.durable import NOTIFICATIONS
from shared.durable import JobState
from tests.integration.control.jobs.conftest import durable_url
from tests.integration.control.jobs.plant import Plant, becomes, open_plant
from tests.integration.control.jobs.receiver import Receiver

pytestmark = pytest.mark.processes
ROOT = Path(__file__).parents[4]
#: A process imports the whole service first.
PATIENCE = 60


class Workers:
    """`control work` processes over one database."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.environment = {**os.environ, **environment}
        self.log = log
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "control_server", "work"]
            process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        self.running.append(process)
        return process

    def end(self) -> None:
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait(30)


@pytest.fixture(params=["sqlite", "valkey"])
def server_url(request: pytest.FixtureRequest) -> str | None:
    return durable_url(request.getfixturevalue("valkey_state")) if request.param == "valkey" else None


@pytest.fixture
def workers(server_url: str | None, sqlite_url: str, tmp_path: Path) -> Iterator[Workers]:
    environment = {
        "ROUTELOOM_CONTROL_DATABASE__URL": sqlite_url,
        "ROUTELOOM_CONTROL_STATE_DIRECTORY": str(tmp_path),
        "ROUTELOOM_CONTROL_DURABLE__URL": server_url or "",
        "ROUTELOOM_CONTROL_DURABLE__LEASE": "PT2S",
        "ROUTELOOM_CONTROL_ALERTS__ALLOW_LOOPBACK": "true",
        "ROUTELOOM_CONTROL_ALERTS__FIRST_PAUSE": "PT0.05S",
        "ROUTELOOM_CONTROL_JOBS__GRACE": "PT0.1S",
    }
    found = Workers(environment, tmp_path / "workers.log")
    yield found
    found.end()


async def reached(receiver: Receiver, times: int) -> None:
    async def so() -> bool:
        return len(receiver.received) >= times

    await becomes(so, PATIENCE)


async def delivered(plant: Plant, ident: str) -> None:
    async def so() -> bool:
        return (await plant.delivery(ident)).state == "delivered"

    await becomes(so, PATIENCE)


async def test_a_worker_killed_in_mid_job_is_replaced(
    workers: Workers, receiver: Receiver, server_url: str | None, sqlite_url: str, tmp_path: Path
) -> None:
    async with open_plant(sqlite_url, tmp_path, server_url) as plant:
        channel = await plant.add_channel(receiver.url)
        receiver.open.clear()
        ident = await plant.test_channel(channel["id"])
        first = workers.start()
        await reached(receiver, 1)
        first.kill()
        first.wait(30)
        receiver.open.set()
        async with plant.working():
            await delivered(plant, ident)
        assert set(receiver.keys) == {ident}
        assert await plant.resources.durable.queues[NOTIFICATIONS].state(ident) is None
        assert [str(each.id) for each in await plant.all_deliveries()] == [ident]


async def test_a_worker_told_to_stop_gives_its_job_back_uncounted(
    workers: Workers, receiver: Receiver, server_url: str | None, sqlite_url: str, tmp_path: Path
) -> None:
    async with open_plant(sqlite_url, tmp_path, server_url) as plant:
        channel = await plant.add_channel(receiver.url)
        receiver.open.clear()
        ident = await plant.test_channel(channel["id"])
        worker = workers.start()
        await reached(receiver, 1)
        worker.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(worker.wait, PATIENCE) == 0
        queue = plant.resources.durable.queues[NOTIFICATIONS]
        assert await queue.state(ident) is JobState.PENDING
        lease = await queue.lease("another", wait=timedelta(seconds=5))
        assert lease is not None
        assert lease.attempt == 1
        assert (await plant.admin.get("/api/v1/jobs")).json()["workers"] == []
