"""Portal routes of background jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from control_server.jobs.dependencies import JobReader, Jobs, JobWriter
from control_server.jobs.schemas import KindName, QueueName
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(prefix="/jobs", include_in_schema=False)


@router.get("")
async def show_jobs(request: Request, _reader: JobReader, jobs: Jobs) -> Response:
    """Queues, schedules, workers and dead letters."""
    return render(request, "jobs/jobs.html", jobs=await jobs.overview(), dead=await jobs.dead())


@router.post("/dead/requeue")
async def requeue_from_page(
    writer: JobWriter,
    jobs: Jobs,
    queue: Annotated[QueueName, Form()],
    job_id: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Give one dead job, or all of a queue, their attempts again."""
    await jobs.requeue(writer, queue, [job_id] if job_id else [])
    return RedirectResponse("/jobs", status_code=303)


@router.post("/dead/purge")
async def purge_from_page(writer: JobWriter, jobs: Jobs, queue: Annotated[QueueName, Form()]) -> Response:
    """Forget every dead job of a queue."""
    await jobs.purge(writer, queue, timedelta(0))
    return RedirectResponse("/jobs", status_code=303)


@router.post("/kinds/{kind}/start")
async def start_from_page(
    writer: JobWriter, jobs: Jobs, kind: KindName, force: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """Start a job now."""
    await jobs.start(writer, kind, force=force == "yes")
    return RedirectResponse("/jobs", status_code=303)
