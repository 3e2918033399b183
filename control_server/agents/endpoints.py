"""HTTP twins of the agent's frames, for agents behind proxies that break WebSockets."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from control_server.agents.dependencies import AgentNode, Link
from shared.protocol.frames import Heartbeat
from shared.web.routing import Router

router = Router(prefix="/api/v1/agent", tags=["agent"])


class ReportReceived(BaseModel):
    """The server has the report."""

    node_id: str
    server_time: datetime


@router.post("/reports/heartbeat")
async def report_heartbeat(node_id: AgentNode, heartbeat: Heartbeat, link: Link) -> ReportReceived:
    """The same heartbeat that goes over the socket."""
    await link.hear(node_id, heartbeat)
    return ReportReceived(node_id=node_id, server_time=link.now())
