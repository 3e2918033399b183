"""What heartbeats tell of generations: a doorbell that was lost is rung again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from control_server.agents.service import AgentConnection, Switchboard
from control_server.nodes.dependencies import newest_generations
from control_server.resources import ControlResources
from shared.kernel.loops import Loop
from shared.protocol.frames import DesiredStateUpdated, Heartbeat

#: A burst of heartbeats costs one statement in so long; an agent is told so much later that it is behind,
#: at a cadence of 30 s.
_EVERY = timedelta(milliseconds=500)


@dataclass(slots=True)
class Reminders:
    """Rings for every agent whose last heartbeat says that it runs an older generation than the newest.

    What is not rung because a pass failed or the process ended, the next heartbeat asks for again.
    """

    newest: Callable[[Collection[str]], Awaitable[Mapping[str, int]]]
    _heard: dict[AgentConnection, int] = field(default_factory=dict)

    async def note(self, connection: AgentConnection, beat: Heartbeat) -> None:
        """Keep what the agent runs until the next pass."""
        self._heard[connection] = beat.applied_generation or 0

    async def ring(self) -> None:
        """Compare all that was heard since the last pass with what is newest now."""
        if not self._heard:
            return
        heard, self._heard = self._heard, {}
        newest = await self.newest({connection.node_id for connection in heard})
        for connection, applied in heard.items():
            generation = newest.get(connection.node_id, 0)
            if generation > applied:
                connection.send(DesiredStateUpdated(generation=generation))


def hear(switchboard: Switchboard, resources: ControlResources) -> list[Loop]:
    """Note heartbeats; the loop rings."""
    reminders = Reminders(newest_generations(resources))
    switchboard.hear(Heartbeat, reminders.note)
    return [Loop("desired_state.reminders", reminders.ring, interval=_EVERY)]
