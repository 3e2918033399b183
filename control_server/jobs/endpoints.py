"""JSON routes of background jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query, status

from control_server.jobs.dependencies import JobReader, Jobs, JobWriter
from control_server.jobs.schemas import (
    DeadJobsRead,
    JobsRead,
    KindName,
    Moved,
    PurgeRequest,
    QueueName,
    RequeueRequest,
    Started,
    StartRequest,
)
from shared.web.routing import Router

router = Router(prefix="/api/v1/jobs", tags=["jobs"])


@router.get("")
async def list_jobs(_reader: JobReader, jobs: Jobs) -> JobsRead:
    """Queues, workers and schedules."""
    return await jobs.overview()


@router.get("/dead")
async def list_dead_jobs(
    _reader: JobReader,
    jobs: Jobs,
    queue: QueueName | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> DeadJobsRead:
    """Jobs that used up their attempts, the latest first."""
    return DeadJobsRead(items=await jobs.dead(queue, limit))


@router.post("/dead/requeue")
async def requeue_dead_jobs(writer: JobWriter, jobs: Jobs, wanted: RequeueRequest) -> Moved:
    """Give dead jobs all their attempts again."""
    return Moved(count=await jobs.requeue(writer, wanted.queue, wanted.job_ids))


@router.post("/dead/purge")
async def purge_dead_jobs(writer: JobWriter, jobs: Jobs, wanted: PurgeRequest) -> Moved:
    """Forget dead jobs."""
    older_than = timedelta(seconds=wanted.older_than_seconds)
    return Moved(count=await jobs.purge(writer, wanted.queue, older_than))


@router.post("/kinds/{kind}/start", status_code=status.HTTP_202_ACCEPTED)
async def start_job(
    writer: JobWriter, jobs: Jobs, kind: KindName, wanted: StartRequest | None = None
) -> Started:
    """Start a job of this kind now."""
    force = wanted is not None and wanted.force
    return Started(job_id=await jobs.start(writer, kind, force=force))
