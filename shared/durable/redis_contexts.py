"""Retained contexts on Valkey or Redis: one hash a run, so that all its revisions age together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.durable.codecs import RedisPayloadCodec
from shared.durable.config import RedisConfig
from shared.durable.errors import ContextConflictError
from shared.durable.keys import DurableKeys
from shared.durable.records import ContextAge, RetainedContext
from shared.durable.redis_replies import run_script
from shared.durable.wire import decode_context, encode_context

if TYPE_CHECKING:
    from shared.durable.codecs import PayloadCodec
    from shared.durable.config import ContextRetentionPolicy
    from shared.durable.protocols import AsyncRedisClient
    from shared.durable.records import JsonObject


class RedisContextStore:
    """Immutable revisions with a pointer to the latest; every one has an age."""

    def __init__(
        self,
        client: AsyncRedisClient,
        policy: ContextRetentionPolicy,
        config: RedisConfig | None = None,
        *,
        codec: PayloadCodec | None = None,
    ) -> None:
        """Use the application's client, which stays the application's to close."""
        self._client = client
        self._policy = policy
        self._keys = DurableKeys((config or RedisConfig()).prefix)
        self._codec = codec or RedisPayloadCodec()

    async def append(self, run_id: str, content: JsonObject, expected_revision: int) -> int:
        """Store the next revision over the expected latest one."""
        revision = expected_revision + 1
        stored = encode_context(self._codec, RetainedContext(run_id, revision, content))
        keep = self._policy.seconds(ContextAge.WORKING) * 1000
        keys = [self._keys.context(run_id)]
        reply = await run_script(self._client, "append_context", keys, expected_revision, stored, keep)
        if reply.status == "conflict":
            raise ContextConflictError.of(run_id, expected_revision, reply.number())
        if reply.status != "appended":
            raise reply.odd()
        return revision

    async def load(self, run_id: str, revision: int | None = None) -> RetainedContext | None:
        """Return that revision, by default the latest."""
        wanted = "" if revision is None else revision
        reply = await run_script(self._client, "read_context", [self._keys.context(run_id)], wanted)
        if reply.status == "absent":
            return None
        if reply.status != "found":
            raise reply.odd()
        return decode_context(self._codec, reply.value())

    async def settle(self, run_id: str, age: ContextAge) -> bool:
        """Let the retention of that age count from now."""
        keep = self._policy.seconds(age) * 1000
        reply = await run_script(self._client, "age_context", [self._keys.context(run_id)], keep)
        return bool(reply.number())

    async def delete(self, run_id: str) -> bool:
        """Remove every revision."""
        reply = await run_script(self._client, "age_context", [self._keys.context(run_id)], 0)
        return bool(reply.number())
