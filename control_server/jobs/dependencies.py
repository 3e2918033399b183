"""Wiring of background jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from control_server.audit.dependencies import audit_service
from control_server.jobs.service import JobDesk
from control_server.resources import ControlResources
from shared.kernel.principal import Principal, Scope
from shared.web.principals import Require


async def _desk(request: Request) -> JobDesk:
    resources: ControlResources = request.app.state.resources
    address = request.client.host if request.client else ""
    return JobDesk(
        database=resources.database,
        durable=resources.durable,
        kinds=request.app.state.job_kinds,
        now=resources.now,
        audit=lambda session: audit_service(session, resources.now, address),
    )


Jobs = Annotated[JobDesk, Depends(_desk)]
JobReader = Annotated[Principal, Depends(Require(Scope.FLEET_READ))]
JobWriter = Annotated[Principal, Depends(Require(Scope.JOBS_WRITE))]
