"""Portal routes of traffic."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query, Request, Response

from control_server.policy.dependencies import Reader
from control_server.traffic.dependencies import Traffic
from control_server.traffic.schemas import TrafficRange
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/traffic")
async def show_traffic(
    request: Request,
    _reader: Reader,
    traffic: Traffic,
    wanted: Annotated[TrafficRange, Query(alias="range")] = TrafficRange.HOURS_24,
) -> Response:
    """The fleet's traffic over time, and by node."""
    fleet = await traffic.fleet(wanted)
    total = fleet.total
    step = timedelta(seconds=total.step_seconds)
    times = [total.start + step * place for place in range(len(total.points.received))]
    return render(request, "traffic/traffic.html", fleet=fleet, times=times, ranges=list(TrafficRange))
