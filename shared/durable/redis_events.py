"""Events on Valkey or Redis: one stream a run, ids without holes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.durable.codecs import LoopCheckpointCodec, RedisPayloadCodec
from shared.durable.config import RedisConfig, Retention
from shared.durable.cursors import dense_id, empty_page, page_of, split_id
from shared.durable.errors import EventConflictError, RedisPayloadError
from shared.durable.keys import DurableKeys
from shared.durable.records import EventPage, StoredEvent
from shared.durable.redis_replies import answer, as_list, as_text, run_script
from shared.durable.wire import decode_event, encode_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.durable.codecs import CheckpointCodecProtocol, PayloadCodec
    from shared.durable.protocols import AsyncRedisClient
    from shared.durable.records import LoopEvent

#: The server's words for an id that is not above the last one; a part of every such reply.
_NOT_ABOVE = "equal or smaller than the target stream top item"


class RedisEventPublisher:
    """Events in order, trimmed approximately at the configured number."""

    def __init__(
        self,
        client: AsyncRedisClient,
        config: RedisConfig | None = None,
        checkpoint_codec: CheckpointCodecProtocol | None = None,
        *,
        codec: PayloadCodec | None = None,
        retention: Retention | None = None,
    ) -> None:
        """Use the application's client, which stays the application's to close."""
        self._client = client
        self._config = config or RedisConfig()
        self._keys = DurableKeys(self._config.prefix)
        self._checkpoints = checkpoint_codec or LoopCheckpointCodec()
        self._codec = codec or RedisPayloadCodec()
        self._keep = (retention or Retention()).milliseconds

    async def publish(self, event: LoopEvent, *, sequence: int | None = None) -> str:
        """Append and answer the id; see EventPublisher."""
        key = self._keys.events(event.run_id)
        stored = encode_event(self._codec, self._checkpoints, event)
        try:
            return await self._append(key, stored, "0-*" if sequence is None else dense_id(sequence))
        except Exception as error:
            if _NOT_ABOVE not in str(error):
                raise
        if sequence is None:
            # A stream of an earlier writer, whose ids are times: it goes on as it began.
            return await self._append(key, stored, "*")
        return await self._already(key, stored, sequence)

    async def read(self, run_id: str, after: str | None = None, limit: int = 100) -> Sequence[StoredEvent]:
        """Return the events after the cursor."""
        start = "-"
        if after is not None:
            split_id(after)
            start = f"({after}"
        key = self._keys.events(run_id)
        found = as_list(await answer(self._client.xrange(key, min=start, max="+", count=limit)))
        return [self._stored(entry) for entry in found]

    async def page(self, run_id: str, after: str | None = None, limit: int = 100) -> EventPage:
        """Like `read`, with what was trimmed before the first event."""
        events = tuple(await self.read(run_id, after, limit))
        if events:
            return page_of(events, after)
        reply = await run_script(self._client, "stream_tail", [self._keys.events(run_id)])
        return empty_page(after, as_text(reply.value()) or None)

    async def delete(self, run_id: str) -> bool:
        """Remove all events of the run."""
        reply = await run_script(self._client, "delete_events", [self._keys.events(run_id)])
        return bool(reply.number())

    async def _append(self, key: str, stored: bytes, event_id: str) -> str:
        most = self._config.event_max_length
        if self._keep:
            arguments = (stored, most, self._keep, event_id)
            reply = await run_script(self._client, "publish_event", [key], *arguments)
            return as_text(reply.value())
        return as_text(await answer(self._client.xadd(key, {"event": stored}, id=event_id, maxlen=most)))

    async def _already(self, key: str, stored: bytes, sequence: int) -> str:
        """The server refused the number: the same event stands there, or it was trimmed since."""
        event_id = dense_id(sequence)
        found = as_list(await answer(self._client.xrange(key, min=event_id, max=event_id, count=1)))
        if found and self._payload(found[0])[1] == stored:
            return event_id
        if not found:
            reply = await run_script(self._client, "stream_tail", [key])
            if split_id(as_text(reply.value()) or dense_id(0))[0] == 0:
                return event_id
        raise EventConflictError

    def _stored(self, entry: object) -> StoredEvent:
        event_id, payload = self._payload(entry)
        return StoredEvent(event_id, decode_event(self._codec, self._checkpoints, payload))

    def _payload(self, entry: object) -> tuple[str, bytes]:
        parts = as_list(entry)
        if len(parts) == 2 and isinstance(parts[1], dict):  # noqa: PLR2004 - an id and its fields
            payload = parts[1].get(b"event", parts[1].get("event"))
            if isinstance(payload, bytes | str):
                return as_text(parts[0]), payload if isinstance(payload, bytes) else payload.encode()
        raise RedisPayloadError("The server answered a stream entry that is not an event.")
