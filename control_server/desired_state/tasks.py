"""Background work of desired states: filters follow the registry."""

from __future__ import annotations

from datetime import timedelta

from control_server.agents.dependencies import open_link
from control_server.agents.service import Switchboard
from control_server.desired_state.dependencies import Publishing, open_publishing
from control_server.neighbours.dependencies import neighbours
from control_server.resources import ControlResources
from shared.kernel.loops import Loop
from shared.kernel.principal import SYSTEM

NAME = "neighbours.filters"


def loops(resources: ControlResources) -> list[Loop]:
    """Asks the registry for what filters are made of; one process of the fleet is enough."""

    async def follow() -> None:
        await follow_registry(open_publishing(resources, open_link(resources, Switchboard())))

    return [Loop(NAME, follow, interval=resources.settings.registry_filters_every, time_limit=_LONGEST)]


#: Sources that a generation's reason names.
_NAMED = 5
_LONGEST = timedelta(minutes=10)


async def follow_registry(publishing: Publishing) -> None:
    """Learn the route objects of all filters, and publish what changes by them."""
    resources = publishing.resources
    async with resources.database.reading() as session:
        sources = await publishing.peerings(session).sources()
    book = neighbours(resources)
    changed = await book.learn(*sorted(sources))
    await book.forget_but(sources.keys())
    if not sources:
        return
    # All of them: where an earlier pass has learned and not published, this one does.
    nodes = {node for found in sources.values() for node in found}
    named = ", ".join(sorted(changed)[:_NAMED]) or "neighbours"
    reason = f"the registry says what {named} may originate"
    async with resources.database.transaction() as session:
        publisher = await publishing.writing(session)
        await publisher.publish(SYSTEM, reason, nodes)
