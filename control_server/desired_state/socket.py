"""What heartbeats tell of generations: a doorbell that was lost is rung again."""

from __future__ import annotations

from control_server.agents.service import AgentConnection, Switchboard
from control_server.nodes.dependencies import newest_generations
from control_server.resources import ControlResources
from shared.protocol.frames import DesiredStateUpdated, Heartbeat


def hear(switchboard: Switchboard, resources: ControlResources) -> None:
    """Ring for every agent whose heartbeat says that it runs an older generation than the newest."""
    newest = newest_generations(resources)

    async def remind(connection: AgentConnection, beat: Heartbeat) -> None:
        generation = await newest.of(connection.node_id)
        if generation is not None and generation > (beat.applied_generation or 0):
            connection.send(DesiredStateUpdated(generation=generation))

    switchboard.hear(Heartbeat, remind)
