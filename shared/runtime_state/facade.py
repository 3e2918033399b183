"""The one way to the runtime state: commands under a prefix, JSON, batches, sweeps and figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shared.kernel.clock import utc_now
from shared.runtime_state.arguments import (
    check_count,
    encode_field_names,
    encode_fields,
    encode_name,
    encode_value,
    flag,
    lifetime,
    whole_seconds,
)
from shared.runtime_state.batch import StagedBatch
from shared.runtime_state.contracts import (
    RuntimeStateArgumentError,
    RuntimeStateStats,
    RuntimeStateValueError,
)
from shared.runtime_state.locations import check_prefix
from shared.runtime_state.tally import SweepTally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shared.kernel.clock import Clock
    from shared.runtime_state.contracts import (
        Key,
        Name,
        RuntimeStateBackend,
        RuntimeStateBatch,
        Seconds,
        Value,
    )


class RedisRuntimeClient:
    """Short-lived state that may vanish at any time. Facts belong in the database.

    Keys are given without the prefix, which is added once to everything. Values are read as bytes. Every
    command raises `RuntimeStateUnavailable` when the store cannot be reached, `RuntimeStateCapacityExceeded`
    (one of those) when it is full, and a `RuntimeStateUsageError` for the caller's own mistake.
    """

    def __init__(self, backend: RuntimeStateBackend, *, prefix: str, now: Clock = utc_now) -> None:
        """Serve one prefix from one back end."""
        check_prefix(prefix)
        self._backend = backend
        self._prefix = prefix.encode()
        #: How the sweeps went, written by whoever runs them.
        self.sweeps = SweepTally(now)

    @property
    def backend_name(self) -> str:
        """`memory` or `redis`; what `/readyz` shows as `runtime_state_backend`."""
        return self._backend.name

    @property
    def ephemeral(self) -> bool:
        """Whether all of it is gone with this process."""
        return self._backend.ephemeral

    async def ping(self) -> bool:
        return await self._backend.ping()

    async def set(self, key: Key, value: Value, *, ex: Seconds | None = None, nx: bool = False) -> bool:
        """Store a string; a lifetime that it had ends. With `nx`, False when anything was there already."""
        return await self._backend.set(self._wire_key(key), encode_value(value), ex=lifetime(ex), nx=flag(nx))

    async def get(self, key: Key) -> bytes | None:
        return await self._backend.get(self._wire_key(key))

    async def incr(self, key: Key) -> int:
        """Add one and keep the lifetime; a missing key becomes 1 without any."""
        return await self._backend.incr(self._wire_key(key))

    async def delete(self, *keys: Key) -> int:
        """Answers how many were there."""
        check_count(len(keys))
        return await self._backend.delete(*map(self._wire_key, keys))

    async def expire(self, key: Key, seconds: Seconds) -> bool:
        """Replace the lifetime; zero or less removes the key. False when it is missing."""
        return await self._backend.expire(self._wire_key(key), whole_seconds(seconds))

    async def ttl(self, key: Key) -> int:
        """Seconds left to the nearest, so 0 can still be alive; -1 without a lifetime, -2 when missing."""
        return await self._backend.ttl(self._wire_key(key))

    async def hset(self, key: Key, mapping: Mapping[Name, Value]) -> int:
        """Answers how many of the fields are new; keeps the lifetime."""
        return await self._backend.hset(self._wire_key(key), encode_fields(mapping))

    async def hget(self, key: Key, field: Key) -> bytes | None:
        return await self._backend.hget(self._wire_key(key), encode_name(field, "field"))

    async def hmget(self, key: Key, fields: Iterable[Key]) -> list[bytes | None]:
        """The values in the order of the fields."""
        return await self._backend.hmget(self._wire_key(key), encode_field_names(fields))

    async def hgetall(self, key: Key) -> dict[bytes, bytes]:
        """Empty when missing."""
        return await self._backend.hgetall(self._wire_key(key))

    @staticmethod
    def key(*parts: str) -> str:
        """Join the parts of a key with colons; the prefix is not among them."""
        if not parts or not all(parts):
            raise RuntimeStateArgumentError("a key is joined from parts that are not empty")
        return ":".join(parts)

    @staticmethod
    def dumps(value: object) -> bytes:
        """Compact JSON in UTF-8."""
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise RuntimeStateArgumentError("the value has no JSON form") from error

    @staticmethod
    def loads(raw: bytes | str | None) -> Any:
        """What `dumps` wrote; None stays None, so a missing key reads as one."""
        if raw is None:
            return None
        try:
            return json.loads(raw)
        except ValueError as error:
            raise RuntimeStateValueError("the stored value is not JSON") from error

    def batch(self) -> RuntimeStateBatch:
        """An empty batch of `set`, `hset`, `expire` and `delete`."""
        return StagedBatch(self._backend, self._wire_key)

    async def sweep_expired(self) -> int:
        """Make one pass of a sweep; answers how many expired keys it removed.

        `sweeps.complete` tells whether that was all. A server sweeps by itself: there it is 0.
        """
        report = await self._backend.sweep_expired()
        self.sweeps.finished(report)
        return report.removed

    async def stats(self) -> RuntimeStateStats:
        """Aggregates only: no key, no value, no address."""
        held = await self._backend.holdings(self._prefix)
        return RuntimeStateStats(
            backend=self._backend.name,
            ephemeral=self._backend.ephemeral,
            active_keys=held.active_keys,
            approx_bytes=held.approx_bytes,
            max_bytes=held.max_bytes,
            capacity_rejections=held.capacity_rejections,
            sweep_count=self.sweeps.count,
            sweep_failures=self.sweeps.failures,
            last_sweep_at=self.sweeps.last_at,
            last_sweep_seconds=self.sweeps.last_seconds,
        )

    async def aclose(self) -> None:
        """Let go of connections and, in memory, of everything."""
        await self._backend.aclose()

    def _wire_key(self, key: Key) -> bytes:
        return self._prefix + encode_name(key, "key")
