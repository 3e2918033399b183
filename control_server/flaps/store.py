"""The hot state of flaps on the kv tier: one blob a node and kind, exchanged whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from control_server.flaps.schemas import SubjectKind
from control_server.keys import BGP_FLAPS, PREFIX_FLAPS
from shared.cache import Cache, KeyFamily

_LIFE_SECONDS = 7 * 24 * 3600
_FAMILIES = {SubjectKind.SESSION: BGP_FLAPS, SubjectKind.PREFIX: PREFIX_FLAPS}
#: Blobs of one question: a hundred of sessions are as much as a few of prefixes.
_AT_ONCE = {SubjectKind.SESSION: 100, SubjectKind.PREFIX: 5}


@dataclass(frozen=True, slots=True)
class HotState:
    """Blobs on the tier. Every call raises TierUnavailable where it does not answer."""

    kv: Cache

    @property
    def configured(self) -> bool:
        """Whether there is a tier to keep anything."""
        return self.kv.configured

    async def find(self, kind: SubjectKind, node_id: str) -> Any:
        """The blob of a node; None where there is none, or none that can be understood."""
        return await self.kv.get_json(_family(kind).key(node=node_id))

    async def find_many(self, kind: SubjectKind, node_ids: Sequence[str]) -> dict[str, Any]:
        """The blobs of those of the nodes that have one."""
        found: dict[str, Any] = {}
        waiting = iter(node_ids)
        while some := list(islice(waiting, _AT_ONCE[kind])):
            blobs = await self.kv.get_many_json([_family(kind).key(node=node) for node in some])
            found |= {node: blob for node, blob in zip(some, blobs, strict=True) if blob is not None}
        return found

    async def exchange(self, kind: SubjectKind, node_id: str, seen: Any, blob: Any) -> bool:
        """Put a blob in the place of the one that was seen; False when another is there by now."""
        key = _family(kind).key(node=node_id)
        if seen is None:
            return await self.kv.set_json_if_absent(key, blob, ttl_seconds=_LIFE_SECONDS)
        return await self.kv.exchange(key, seen, blob, ttl_seconds=_LIFE_SECONDS)


def _family(kind: SubjectKind) -> KeyFamily:
    return _FAMILIES[kind]
