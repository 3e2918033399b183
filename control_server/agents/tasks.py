"""Background work of the agents' link."""

from __future__ import annotations

from datetime import timedelta

from control_server.agents.service import AgentLink
from shared.kernel.loops import Loop


def loops(link: AgentLink) -> list[Loop]:
    """Copies what was heard into SQL once a minute, and says which sockets are here."""
    return [
        Loop("agents.last_seen", link.write_last_seen, interval=timedelta(minutes=1)),
        Loop("agents.sockets", link.roster.renew, interval=timedelta(seconds=30)),
    ]
