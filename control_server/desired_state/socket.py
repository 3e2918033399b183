"""What heartbeats tell of generations: a doorbell that was lost is rung again."""

from __future__ import annotations

from control_server.agents.service import AgentConnection, AgentLink, Switchboard
from control_server.nodes.dependencies import reading_nodes
from control_server.resources import ControlResources
from shared.protocol.frames import DesiredStateUpdated, Heartbeat


def hear(switchboard: Switchboard, resources: ControlResources, link: AgentLink) -> None:
    """Ring for every agent whose heartbeat says that it runs an older generation than the newest."""

    async def remind(connection: AgentConnection, beat: Heartbeat) -> None:
        async with reading_nodes(resources, link) as nodes:
            node = await nodes.find(connection.node_id)
        if node is not None and node.generation > (beat.applied_generation or 0):
            connection.send(DesiredStateUpdated(generation=node.generation))

    switchboard.hear(Heartbeat, remind)
