"""Run records on Valkey or Redis: a string a run and an index by time of creation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shared.durable.codecs import RedisPayloadCodec
from shared.durable.config import RedisConfig, Retention
from shared.durable.errors import RedisPayloadError, RunConflictError
from shared.durable.keys import DurableKeys
from shared.durable.redis_replies import answer, as_list, as_text, run_script
from shared.durable.wire import decode_run, encode_run, to_milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.durable.codecs import PayloadCodec
    from shared.durable.protocols import AsyncRedisClient
    from shared.durable.records import RunRecord


class RedisRunRepository:
    """State and outcome for control surfaces; not a checkpoint and not a substitute for one."""

    def __init__(
        self,
        client: AsyncRedisClient,
        config: RedisConfig | None = None,
        codec: PayloadCodec | None = None,
        *,
        retention: Retention | None = None,
    ) -> None:
        """Use the application's client, which stays the application's to close."""
        self._client = client
        self._keys = DurableKeys((config or RedisConfig()).prefix)
        self._codec = codec or RedisPayloadCodec()
        self._retention = retention or Retention()

    async def create(self, record: RunRecord) -> None:
        """Store a new record as version 0."""
        await self._write(replace(record, version=0), None)

    async def get(self, run_id: str) -> RunRecord | None:
        """Return the record, None when there is none."""
        stored = await answer(self._client.get(self._keys.run(run_id)))
        return None if stored is None else decode_run(self._codec, stored)

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[RunRecord]:
        """Return the latest created first; entries whose record has aged out leave the index."""
        index = self._keys.run_index
        found = as_list(await answer(self._client.zrevrange(index, offset, offset + limit - 1)))
        run_ids = [as_text(member) for member in found]
        if not run_ids:
            return []
        stored = as_list(await answer(self._client.mget([self._keys.run(run_id) for run_id in run_ids])))
        if len(stored) != len(run_ids):
            raise RedisPayloadError("The server answered another number of values than were asked for.")
        gone = [run_id for run_id, value in zip(run_ids, stored, strict=True) if value is None]
        if gone:
            await run_script(self._client, "prune_index", [index], *gone)
        return [decode_run(self._codec, value) for value in stored if value is not None]

    async def compare_and_set(self, record: RunRecord, expected_version: int) -> RunRecord:
        """Store the record as the version after the expected one."""
        written = replace(record, version=expected_version + 1)
        await self._write(written, expected_version)
        return written

    async def delete(self, run_id: str, expected_version: int | None = None) -> bool:
        """Remove that version, or whatever is stored."""
        keys = [self._keys.run(run_id), self._keys.run_index]
        wanted = "" if expected_version is None else expected_version
        reply = await run_script(self._client, "delete_versioned", keys, run_id, wanted, "version")
        match reply.status:
            case "deleted" | "absent":
                return reply.status == "deleted"
            case "conflict":
                raise RunConflictError(run_id, expected_version, reply.number())
            case "damaged":
                raise RedisPayloadError(f"Record of run {run_id} is damaged.")
        raise reply.odd()

    async def _write(self, record: RunRecord, expected: int | None) -> None:
        keep = self._retention.milliseconds if record.state.ended else 0
        reply = await run_script(
            self._client,
            "write_run",
            [self._keys.run(record.run_id), self._keys.run_index],
            record.run_id,
            "" if expected is None else expected,
            encode_run(self._codec, record),
            keep,
            to_milliseconds(record.created_at),
        )
        match reply.status:
            case "written":
                return
            case "conflict":
                current = as_text(reply.value())
                raise RunConflictError(record.run_id, expected, int(current) if current else None)
            case "damaged":
                raise RedisPayloadError(f"Record of run {record.run_id} is damaged.")
        raise reply.odd()
