"""Looked-up records on the cache tier, under the version that they were read at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from registry_server.keys import RECORD_TTL, VERSION
from shared.cache import Cache, Key, TierUnavailable


class Kept(NamedTuple):
    """A record that was stored; None where the registry has none."""

    record: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordStore:
    """Reads and writes never fail here: without the tier nothing is found and nothing kept."""

    cache: Cache

    async def version(self) -> int | None:
        """The version to read and write under, or None for "ask SQL and keep nothing"."""
        try:
            counted = await self.cache.read_counter(VERSION.key())
        except TierUnavailable:
            return None
        return counted.value if counted else None

    async def find(self, key: Key, version: int) -> Kept | None:
        """The record, if it is there and was read at exactly this version."""
        try:
            stored = await self.cache.get_json(key)
        except TierUnavailable:
            return None
        if not isinstance(stored, dict) or stored.get("version") != version:
            return None
        return Kept(stored.get("record"))

    async def keep(self, key: Key, version: int, record: dict[str, Any] | None) -> None:
        """Store what a snapshot of this version said."""
        try:
            await self.cache.set_json(
                key, {"version": version, "record": record}, ttl_seconds=RECORD_TTL.total_seconds()
            )
        except TierUnavailable:
            return
