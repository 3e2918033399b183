"""Checkpoints on Valkey or Redis: one string a run, replaced by a script that matches its header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.durable.codecs import CHECKPOINT_SCHEMA, LoopCheckpointCodec
from shared.durable.config import RedisConfig, Retention
from shared.durable.errors import CheckpointConflictError, LeaseLostError, RedisPayloadError
from shared.durable.keys import DurableKeys
from shared.durable.records import CheckpointSummary
from shared.durable.redis_replies import ScriptReply, answer, as_list, as_number, as_text, run_script
from shared.durable.wire import from_milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.durable.codecs import CheckpointCodecProtocol
    from shared.durable.protocols import AsyncRedisClient, StagingClient
    from shared.durable.records import LoopContext, QueueLease


#: From here on staging is cheaper for the server than a script's argument, which it hashes byte by byte.
STAGED_BYTES = 65_536
#: A writer that died between staging and saving leaves its bytes for so long.
_STAGED_MILLISECONDS = 60_000


@dataclass(frozen=True, slots=True)
class _Save:
    run_id: str
    expected: int
    stored: bytes
    lease: QueueLease | None


class RedisCheckpointStore:
    """Exact resumption. Touches the checkpoint's own key alone unless fenced, listed or staged."""

    def __init__(
        self,
        client: AsyncRedisClient,
        config: RedisConfig | None = None,
        codec: CheckpointCodecProtocol | None = None,
        *,
        retention: Retention | None = None,
        staging: StagingClient | None = None,
    ) -> None:
        """Use the application's client, which stays the application's to close.

        With `staging`, normally the same client, a large checkpoint is first stored under a key of its own
        that leaves by itself, and the script only moves it into place: one round trip more, a fraction of
        the server's time.
        """
        self._client = client
        self._keys = DurableKeys((config or RedisConfig()).prefix)
        self._codec = codec or LoopCheckpointCodec()
        self._retention = retention or Retention()
        self._staging = staging

    async def save(
        self, context: LoopContext, expected_revision: int | None = None, *, lease: QueueLease | None = None
    ) -> int:
        """Store the context over the expected revision; see CheckpointStore."""
        expected = context.revision if expected_revision is None else expected_revision
        run_id = context.run_id
        wanted = _Save(run_id, expected, self._codec.encode(context, expected + 1), lease)
        reply = await self._swap(wanted, await self._stage(wanted))
        if reply.status == "unstaged":
            reply = await self._swap(wanted, None)
        match reply.status:
            case "saved":
                return expected + 1
            case "conflict":
                raise CheckpointConflictError(run_id, expected, reply.number() or None)
            case "lost":
                raise LeaseLostError
            case "schema":
                raise RedisPayloadError(f"Checkpoint of run {run_id} has an unknown schema.")
            case "damaged":
                raise RedisPayloadError(f"Checkpoint of run {run_id} is damaged.")
        raise reply.odd()

    async def _stage(self, wanted: _Save) -> str | None:
        """The key that holds the bytes now, where they are to go that way."""
        if self._staging is None or len(wanted.stored) < STAGED_BYTES:
            return None
        key = self._keys.staged_checkpoint(wanted.run_id)
        await answer(self._staging.set(key, wanted.stored, px=_STAGED_MILLISECONDS))
        return key

    async def _swap(self, wanted: _Save, staged: str | None) -> ScriptReply:
        keys = [self._keys.checkpoint(wanted.run_id)]
        lease, listed = wanted.lease, self._retention.listed
        if lease is not None:
            keys.extend(self._keys.fence)
        if listed:
            keys.append(self._keys.checkpoint_index)
        if staged is not None:
            keys.append(staged)
        arguments: list[Any] = [CHECKPOINT_SCHEMA, wanted.run_id, wanted.expected]
        arguments += [wanted.stored if staged is None else b"", self._retention.milliseconds]
        arguments += ["", ""] if lease is None else [lease.job.job_id, lease.lease_id]
        arguments += [int(listed), "" if staged is None else len(wanted.stored)]
        return await run_script(self._client, "save_checkpoint", keys, *arguments)

    async def load(self, run_id: str) -> LoopContext | None:
        """Return the checkpoint, None when there is none."""
        stored = await answer(self._client.get(self._keys.checkpoint(run_id)))
        return None if stored is None else self._codec.decode(run_id, stored)

    async def delete(self, run_id: str, expected_revision: int | None = None) -> bool:
        """Remove that revision, or whatever is stored."""
        keys = [self._keys.checkpoint(run_id)]
        if self._retention.listed:
            keys.append(self._keys.checkpoint_index)
        wanted = "" if expected_revision is None else expected_revision
        reply = await run_script(self._client, "delete_versioned", keys, run_id, wanted, "revision")
        match reply.status:
            case "deleted" | "absent":
                return reply.status == "deleted"
            case "conflict":
                raise CheckpointConflictError(run_id, expected_revision or 0, reply.number())
            case "damaged":
                raise RedisPayloadError(f"Checkpoint of run {run_id} is damaged.")
        raise reply.odd()

    async def list_recent(self, limit: int = 100, offset: int = 0) -> Sequence[CheckpointSummary]:
        """Return the latest saved first; empty where listing is off."""
        if not self._retention.listed:
            return []
        keys = [self._keys.checkpoint_index]
        reply = await run_script(self._client, "list_index", keys, offset, offset + limit - 1)
        found = as_list(reply.values)
        pairs = zip(found[::2], found[1::2], strict=True)
        return [CheckpointSummary(as_text(run), from_milliseconds(as_number(at))) for run, at in pairs]
