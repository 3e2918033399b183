"""`/livez`, `/healthz`, `/readyz`: the process lives; tiers and ports are well; requests can be served.

A dead kv tier or port answers 503 on `/healthz` for monitoring, while `/readyz`, which proxies and
orchestrators use, never asks a tier: requests go on by the fallbacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from shared.database import Database, DatabaseUnavailable
from shared.listeners import PortReport, PortWatch
from shared.web.routing import Router


class TierReport(BaseModel):
    """What the background prober last saw of one tier."""

    tier: str
    status: Literal["ok", "degraded", "unreachable", "absent"]
    #: Without this tier the service must not claim to be healthy: it holds only copies.
    essential: bool = False
    facts: dict[str, Any] = {}


class TierWatch(Protocol):
    """Knows the state of a tier without asking it now."""

    def report(self) -> TierReport:
        """The state as of the last probe."""


def health_router(prefix: str) -> APIRouter:
    """The three endpoints under the service's prefix."""
    router = Router(prefix=prefix, tags=["health"])

    @router.get("/livez")
    async def live() -> dict[str, str]:
        """The process lives."""
        return {"status": "ok"}

    @router.get("/healthz")
    async def healthy(request: Request) -> JSONResponse:
        """State of the tiers, and of ports of other protocols, from background probers.

        503 when the kv tier or a port is unreachable.
        """
        found, code = health_of(request.app.state.tier_watches, request.app.state.port_watches)
        return JSONResponse(found, status_code=code)

    @router.get("/readyz")
    async def ready(request: Request) -> JSONResponse:
        """Whether requests can be served: the database answers, and the service knows no reason against it.

        Never asks a tier.
        """
        database: Database = request.app.state.resources.database
        try:
            await database.ping()
        except DatabaseUnavailable:
            return JSONResponse({"status": "not_ready", "database": "unreachable"}, status_code=503)
        for look in request.app.state.ready_looks:
            if (why := look()) is not None:
                return JSONResponse(
                    {"status": "not_ready", "database": database.dialect, **why}, status_code=503
                )
        facts: dict[str, Any] = request.app.state.ready_facts
        return JSONResponse({"status": "ready", "database": database.dialect, **facts})

    return router


def health_of(tiers: Sequence[TierWatch], ports: Sequence[PortWatch]) -> tuple[dict[str, Any], int]:
    """What `/healthz` says, with its HTTP status; ports are named where there are any."""
    reports = [watch.report() for watch in tiers]
    told = [watch.report() for watch in ports]
    status, code = overall(reports, told)
    found: dict[str, Any] = {
        "status": status,
        "tiers": {report.tier: {"status": report.status, **report.facts} for report in reports},
    }
    if told:
        words = {True: "ok", False: "unreachable"}
        found["ports"] = {port.name: {"status": words[port.answers], **port.facts} for port in told}
    return found, code


def overall(reports: Sequence[TierReport], ports: Sequence[PortReport] = ()) -> tuple[str, int]:
    """Status word and HTTP status of all tiers and ports together."""
    dead = any(r.status == "unreachable" and r.essential for r in reports)
    if dead or not all(port.answers for port in ports):
        return "unavailable", 503
    if any(r.status in {"unreachable", "degraded"} for r in reports):
        return "degraded", 200
    return "ok", 200
