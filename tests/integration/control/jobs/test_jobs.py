"""Performing, stopping, giving up, and what operators see and do."""

import asyncio
from datetime import timedelta

from control_server.durable import UPKEEP
from control_server.jobs.repository import JobRepository
from control_server.jobs.schemas import JobKind, RunningRead
from shared.durable import JobState, QueuedJob
from tests.integration.control.conftest import signed_in
from tests.integration.control.jobs.plant import Plant, becomes

JOB = QueuedJob("one", "work.test")


class Work:
    """A job that does as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.runs = 0
        self.died: list[str] = []
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

    async def run(self, _job: QueuedJob) -> None:
        self.runs += 1
        self.begun.set()
        await self.go.wait()
        if self.runs <= self.failures:
            raise RuntimeError("out of luck")

    async def bury(self, _job: QueuedJob, error: str) -> None:
        self.died.append(error)

    @property
    def kind(self) -> JobKind:
        return JobKind("work.test", UPKEEP, self.run, died=self.bury, time_limit=timedelta(seconds=30))


async def at(plant: Plant, place: JobState | None) -> None:
    async def so() -> bool:
        return await plant.resources.durable.queues[UPKEEP].state("one") is place

    await becomes(so)


class TestPerforming:
    async def test_a_job_is_done_once_and_gone(self, plant: Plant) -> None:
        work = Work()
        async with plant.working(work.kind):
            await plant.resources.durable.queues[UPKEEP].enqueue(JOB)
            await work.begun.wait()
            await at(plant, None)
        assert (work.runs, work.died) == (1, [])

    async def test_one_that_fails_too_often_is_dead_with_its_last_error(self, plant: Plant) -> None:
        work = Work(failures=99)
        async with plant.working(work.kind):
            await plant.resources.durable.queues[UPKEEP].enqueue(JOB)
            await at(plant, JobState.DEAD)
            await becomes(lambda: buried(work))
        assert (work.runs, work.died) == (3, ["out of luck"])

    async def test_a_stop_gives_the_job_back_and_counts_no_attempt(self, plant: Plant) -> None:
        work = Work()
        work.go.clear()
        queue = plant.resources.durable.queues[UPKEEP]
        await queue.enqueue(JOB)
        async with plant.working(work.kind):
            await work.begun.wait()
        lease = await queue.lease("another", wait=timedelta(seconds=5))
        assert lease is not None
        assert (lease.job.job_id, lease.attempt) == ("one", 1)

    async def test_a_stop_lets_a_job_finish_within_the_grace(self, lite: Plant) -> None:
        work = Work()
        work.go.clear()
        await lite.resources.durable.queues[UPKEEP].enqueue(JOB)
        async with lite.working(work.kind):
            await work.begun.wait()
            asyncio.get_running_loop().call_later(0.02, work.go.set)
        assert await lite.resources.durable.queues[UPKEEP].state("one") is None

    async def test_leaving_in_order_takes_longer_than_the_grace(self, lite: Plant) -> None:
        grace = lite.resources.settings.jobs.grace
        assert [loop.leaves_within > grace for loop in lite.loops() if loop.name == "jobs.work"] == [True]

    async def test_a_kind_that_this_version_does_not_know_is_dead_in_the_end(self, lite: Plant) -> None:
        await lite.resources.durable.queues[UPKEEP].enqueue(JOB)
        async with lite.working():
            await at(lite, JobState.DEAD)


async def buried(work: Work) -> bool:
    return bool(work.died)


class TestJanitor:
    async def test_each_schedule_has_one_turn_however_many_sweep(self, plant: Plant) -> None:
        sweeps = [loop for _ in range(3) for loop in plant.loops() if loop.name == "jobs.janitor"]
        for sweep in sweeps:
            await sweep.run_once()
        scheduled = [each for each in plant.app.state.job_kinds if each.every is not None]
        counts = await plant.resources.durable.queues[UPKEEP].counts()
        assert counts.pending == len(scheduled)


async def shown_as_running(plant: Plant) -> dict[str, list[str]]:
    workers = (await plant.admin.get("/api/v1/jobs")).json()["workers"]
    return {worker["worker_id"]: [job["job_id"] for job in worker["running"]] for worker in workers}


class TestDesk:
    async def test_shows_queues_workers_and_results(self, plant: Plant) -> None:
        work = Work()
        work.go.clear()
        await plant.resources.durable.queues[UPKEEP].enqueue(JOB)
        loops = {loop.name: loop for loop in plant.loops(work.kind)}
        task = asyncio.ensure_future(loops["jobs.work"].run_once())
        await work.begun.wait()
        await loops["jobs.heartbeat"].run_once()
        answer = (await plant.admin.get("/api/v1/jobs")).json()
        assert {queue["name"]: queue["leased"] for queue in answer["queues"]} == {
            "notifications": 0,
            "upkeep": 1,
        }
        assert [(job["kind"], job["attempt"]) for job in answer["workers"][0]["running"]] == [
            ("work.test", 1)
        ]
        [lease] = answer["leases"]
        assert (lease["queue"], lease["job_id"], lease["kind"], lease["attempt"]) == (
            UPKEEP,
            "one",
            "work.test",
            1,
        )
        assert lease["worker_id"] == answer["workers"][0]["worker_id"]
        page = (await plant.admin.get("/jobs")).text
        assert "work.test" in page
        assert page.count(lease["worker_id"]) == 2, "among the workers and beside the job that it holds"
        work.go.set()
        await at(plant, None)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        after = (await plant.admin.get("/api/v1/jobs")).json()
        assert (after["workers"], after["leases"]) == ([], [])

    async def test_a_killed_worker_is_not_said_to_do_what_another_has_taken_over(self, plant: Plant) -> None:
        queue, now = plant.resources.durable.queues[UPKEEP], plant.resources.now()
        await queue.enqueue(JOB)
        lease = await queue.lease("killed")
        assert lease is not None
        held = RunningRead(queue=UPKEEP, job_id="one", kind="work.test", attempt=lease.attempt, since=now)
        running = [held.model_dump(mode="json")]
        async with plant.resources.database.transaction() as session:
            await JobRepository(session).write_heartbeat(
                {"id": "killed", "started_at": now, "seen_at": now, "running": running}
            )
        assert await shown_as_running(plant) == {"killed": ["one"]}

        async def taken_over() -> bool:
            return await queue.lease("other", wait=timedelta(seconds=1)) is not None

        await becomes(taken_over)
        assert await shown_as_running(plant) == {"killed": []}

    async def test_dead_jobs_are_requeued_and_purged_and_the_trail_tells_of_it(self, plant: Plant) -> None:
        work = Work(failures=99)
        async with plant.working(work.kind):
            await plant.resources.durable.queues[UPKEEP].enqueue(JOB)
            await at(plant, JobState.DEAD)
            moved = await plant.admin.post("/api/v1/jobs/dead/requeue", json={"queue": UPKEEP})
            assert moved.json() == {"count": 1}
            await becomes(lambda: ran(work, 6))
            await at(plant, JobState.DEAD)
        purged = await plant.admin.post("/api/v1/jobs/dead/purge", json={"queue": UPKEEP})
        assert purged.json() == {"count": 1}
        actions = (await plant.admin.get("/api/v1/audit?action=jobs.")).json()["items"]
        assert [event["action"] for event in actions] == ["jobs.purged", "jobs.requeued"]

    async def test_only_kinds_for_people_are_started_by_hand(self, lite: Plant) -> None:
        started = await lite.admin.post("/api/v1/jobs/kinds/retention.probes/start")
        assert started.status_code == 202
        refused = await lite.admin.post("/api/v1/jobs/kinds/notification.deliver/start")
        assert refused.json()["code"] == "job_kind_unknown"

    async def test_the_pages_need_somebody(self, lite: Plant) -> None:
        for path in ("/api/v1/jobs", "/api/v1/jobs/dead", "/api/v1/alerts/channels"):
            assert (await lite.outside.get(path)).status_code == 401
        headers = {**await signed_in(lite), "Accept": "text/html"}  # type: ignore[arg-type]
        for path in ("/jobs", "/alerts"):
            assert (await lite.outside.get(path, headers=headers)).status_code == 200


async def ran(work: Work, times: int) -> bool:
    return work.runs >= times
