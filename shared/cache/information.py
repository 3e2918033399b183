"""What a server says of itself, and what a family weighs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import KeyFamily, Kind, escape_glob
from shared.cache.transport import Command

_KEYSPACE = re.compile(r"keys=(\d+),expires=(\d+)")
_SCAN_COUNT = 500
_OF_THE_SERVER = "-"


@dataclass(frozen=True, slots=True)
class TierInformation:
    """The parts of INFO that matter here."""

    version: str
    used_bytes: int
    limit_bytes: int
    policy: str
    evicted_keys: int
    hits: int
    misses: int
    uptime_seconds: int
    master: bool
    snapshot_failed: bool
    append_only: bool
    #: Keys and keys with a TTL, by database.
    keyspace: dict[int, tuple[int, int]]
    #: Tells two addresses of one server from two servers.
    run_id: str = ""

    @property
    def memory_share(self) -> float | None:
        """Of the limit; None when the server has no limit."""
        return self.used_bytes / self.limit_bytes if self.limit_bytes else None

    def keys_without_ttl(self, database: int) -> int:
        """`keys - expires` of one database."""
        keys, expires = self.keyspace.get(database, (0, 0))
        return keys - expires


@dataclass(frozen=True, slots=True)
class FamilySurvey:
    """The live keys of a family, as they are now."""

    count: int
    bytes: int
    without_ttl: int
    shortest_ttl_seconds: float | None
    longest_ttl_seconds: float | None


def parse_information(text: str) -> TierInformation:
    """Read the reply of INFO; a field that a server lacks counts as empty."""
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    keyspace = {
        int(name[2:]): (int(found[1]), int(found[2]))
        for name, value in fields.items()
        if re.fullmatch(r"db\d+", name) and (found := _KEYSPACE.match(value))
    }
    return TierInformation(
        version=fields.get("valkey_version") or fields.get("redis_version", ""),
        used_bytes=int(fields.get("used_memory", 0)),
        limit_bytes=int(fields.get("maxmemory", 0)),
        policy=fields.get("maxmemory_policy", ""),
        evicted_keys=int(fields.get("evicted_keys", 0)),
        hits=int(fields.get("keyspace_hits", 0)),
        misses=int(fields.get("keyspace_misses", 0)),
        uptime_seconds=int(fields.get("uptime_in_seconds", 0)),
        master=fields.get("role", "master") == "master",
        snapshot_failed=fields.get("rdb_last_bgsave_status", "ok") != "ok",
        append_only=fields.get("aof_enabled", "0") == "1",
        keyspace=keyspace,
        run_id=fields.get("run_id", ""),
    )


class Inspector:
    """Looks at a tier for people; never on the path of a request."""

    def __init__(self, gateway: Gateway, prefix: str) -> None:
        self._gateway = gateway
        self._prefix = prefix

    async def info(self) -> TierInformation:
        """What the server says of itself."""
        (raw,) = await self._gateway.perform(Operation("info", _OF_THE_SERVER), ("INFO",))
        return parse_information(raw.decode("utf-8", "replace"))

    async def count(self, family: KeyFamily) -> int:
        """How many keys of the family there are; SCAN may see a key twice, so they are kept apart by name."""
        names = {name async for batch in self._batches(family) for name in batch}
        return len(names)

    async def survey(self, family: KeyFamily) -> FamilySurvey:
        """Count, bytes and TTL range of a family."""
        names = {name async for batch in self._batches(family) for name in batch}
        sizes: list[int] = []
        ttls: list[int] = []
        ordered = sorted(names)
        for first in range(0, len(ordered), _SCAN_COUNT):
            chunk = ordered[first : first + _SCAN_COUNT]
            commands: list[Command] = []
            for name in chunk:
                commands += [("MEMORY", "USAGE", name), ("PTTL", name)]
            replies = await self._gateway.perform(Operation("survey", family.name), *commands)
            sizes += [size or 0 for size in replies[::2]]
            ttls += [ttl for ttl in replies[1::2] if ttl != -2]  # noqa: PLR2004 - gone meanwhile
        timed = [ttl / 1000 for ttl in ttls if ttl >= 0]
        return FamilySurvey(
            count=len(ttls),
            bytes=sum(sizes),
            without_ttl=len(ttls) - len(timed),
            shortest_ttl_seconds=min(timed, default=None),
            longest_ttl_seconds=max(timed, default=None),
        )

    async def names(self) -> AsyncIterator[str]:
        """The name of every key of the namespace in this database, without the namespace."""
        async for batch in self._scan(escape_glob(self._prefix) + "*"):
            for name in batch:
                yield name.decode("utf-8", "replace")[len(self._prefix) :]

    async def _batches(self, family: KeyFamily) -> AsyncIterator[list[bytes]]:
        if family.kind is Kind.CHANNEL:
            return
        async for batch in self._scan(escape_glob(self._prefix) + family.glob):
            yield [name for name in batch if self._belongs(family, name)]

    def _belongs(self, family: KeyFamily, name: bytes) -> bool:
        text = name.decode("utf-8", "replace")
        return family.expression.fullmatch(text, len(self._prefix)) is not None

    async def _scan(self, pattern: str) -> AsyncIterator[list[bytes]]:
        cursor = b"0"
        while True:
            (reply,) = await self._gateway.perform(
                Operation("scan", _OF_THE_SERVER), ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN_COUNT)
            )
            cursor, batch = reply
            yield batch
            if cursor == b"0":
                return
