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
from typing import Any

import pytest

from control_server.durable import NOTIFICATIONS
from shared.durable import JobState
from tests.integration.control.jobs.conftest import durable_url
from tests.integration.control.jobs.plant import Plant, becomes, open_plant
from tests.integration.control.jobs.receiver import Receiver, receiving

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


async def overview(plant: Plant) -> dict[str, Any]:
    """What the jobs page and `routeloom jobs list` show."""
    answer = await plant.admin.get("/api/v1/jobs")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def lease_of(plant: Plant, kind: str, attempt: int) -> dict[str, Any]:
    """The lease under which this attempt at the only job of the kind is made."""
    found: list[dict[str, Any]] = []

    async def so() -> bool:
        leases = (await overview(plant))["leases"]
        found[:] = [each for each in leases if (each["kind"], each["attempt"]) == (kind, attempt)]
        return bool(found)

    await becomes(so, PATIENCE)
    return found[0]


def pid_in(worker_id: str) -> int:
    return int(worker_id.split(":")[1])


async def killed_and_taken_over(plant: Plant, workers: Workers, kind: str) -> None:
    """End the worker that makes the first attempt, without warning; the other one makes the second."""
    first = await lease_of(plant, kind, 1)
    next(each for each in workers.running if each.pid == pid_in(first["worker_id"])).kill()
    second = await lease_of(plant, kind, 2)
    assert second["worker_id"] != first["worker_id"]
    assert second["job_id"] == first["job_id"]
    shown = await overview(plant)
    assert [each["worker_id"] for each in shown["leases"] if each["kind"] == kind] == [second["worker_id"]]
    claimed = {
        each["worker_id"] for each in shown["workers"] if kind in [job["kind"] for job in each["running"]]
    }
    assert claimed <= {second["worker_id"]}
    page = await plant.admin.get("/jobs")
    assert second["worker_id"] in page.text


async def test_of_two_workers_one_is_killed_in_a_sync_and_one_in_a_delivery(
    workers: Workers, receiver: Receiver, server_url: str | None, sqlite_url: str, tmp_path: Path
) -> None:
    async with receiving() as registry, open_plant(sqlite_url, tmp_path, server_url) as plant:
        workers.environment["ROUTELOOM_CONTROL_REGISTRY_URL"] = f"http://127.0.0.1:{registry.port}"
        registry.open.clear()
        receiver.open.clear()
        workers.start()
        workers.start()
        started = await plant.admin.post("/api/v1/jobs/kinds/registry.sync/start")
        assert started.status_code == 202, started.text
        await reached(registry, 1)
        await killed_and_taken_over(plant, workers, "registry.sync")
        await reached(registry, 2)
        registry.open.set()
        await becomes(lambda: last_end_is(plant, "registry.sync", "done"), PATIENCE)

        workers.start()
        channel = await plant.add_channel(receiver.url)
        ident = await plant.test_channel(channel["id"])
        await reached(receiver, 1)
        await killed_and_taken_over(plant, workers, "notification.deliver")
        await reached(receiver, 2)
        receiver.open.set()
        await delivered(plant, ident)
        assert set(receiver.keys) == {ident}
        leases = (await overview(plant))["leases"]
        assert "notification.deliver" not in [each["kind"] for each in leases]
        assert (await plant.admin.get("/api/v1/jobs/dead")).json()["items"] == []


async def last_end_is(plant: Plant, kind: str, outcome: str) -> bool:
    schedules = (await overview(plant))["schedules"]
    last = next(each["last"] for each in schedules if each["kind"] == kind)
    return last is not None and last["outcome"] == outcome


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
        assert await queue.state(ident) is JobState.PENDING, workers.log.read_text()
        lease = await queue.lease("another", wait=timedelta(seconds=5))
        assert lease is not None
        assert lease.attempt == 1
        assert (await plant.admin.get("/api/v1/jobs")).json()["workers"] == []
