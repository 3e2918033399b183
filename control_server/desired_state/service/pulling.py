"""What agents pull."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from control_server.desired_state.errors import NothingPublished
from control_server.desired_state.store import PublishedStates
from shared.protocol.desired_state.document import PublishedState


@dataclass(frozen=True, slots=True)
class Pulling:
    """Reads what is published in sessions of its own.

    None is held while another is waited for: a few agents that pulled at once would hold every connection,
    and the one that loads for all of them would find none.
    """

    #: The newest generations of nodes, 0 where there is none.
    newest_numbers: Callable[[Collection[str]], Awaitable[Mapping[str, int]]]
    published: PublishedStates

    async def newest(self, node_id: str) -> PublishedState:
        """What the node should run now. Raises NothingPublished."""
        number = (await self.newest_numbers([node_id])).get(node_id)
        if not number:
            raise NothingPublished
        return await self.published.get(node_id, number)
