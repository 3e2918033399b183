"""Which nodes were told of which version: once a day, or once a process without the tier."""

from __future__ import annotations

from collections.abc import MutableSet
from dataclasses import dataclass, field

from control_server.keys import AGENT_PUSH
from shared.cache import Cache, TierUnavailable

_DAY_SECONDS = 86_400
#: What one process remembers for the times without the tier; beyond it, forgetting costs one more word.
_MOST = 65_536


@dataclass(frozen=True, slots=True)
class UpdatePushes:
    """Of all who want to tell a node of a version, one may. Agents take the same word twice without harm."""

    kv: Cache
    _here: MutableSet[tuple[str, str]] = field(default_factory=set)

    async def claim(self, node_id: str, target: str) -> bool:
        """True for the first in a day; without the tier for the first in this process."""
        if not self.kv.configured:
            return self._claim_here(node_id, target)
        key = AGENT_PUSH.key(node=node_id, target=target)
        try:
            won = await self.kv.set_json_if_absent(key, "told", ttl_seconds=_DAY_SECONDS)
        except TierUnavailable:
            return self._claim_here(node_id, target)
        self._claim_here(node_id, target)
        return won

    def _claim_here(self, node_id: str, target: str) -> bool:
        if (node_id, target) in self._here:
            return False
        if len(self._here) >= _MOST:
            self._here.clear()
        self._here.add((node_id, target))
        return True
