"""Records to and from the JSON that is stored for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from shared.durable.errors import PayloadError
from shared.durable.records import (
    JsonObject,
    LoopContext,
    LoopEvent,
    QueuedJob,
    RetainedContext,
    RunRecord,
    RunState,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.durable.codecs import CheckpointCodecProtocol, PayloadCodec

Record = TypeVar("Record")

JOB_SCHEMA = "routeloom.job.v1"
RUN_SCHEMA = "routeloom.run.v1"
EVENT_SCHEMA = "routeloom.event.v1"
CONTEXT_SCHEMA = "routeloom.context.v1"


def from_milliseconds(value: int) -> datetime:
    """A server's milliseconds as an instant."""
    return datetime.fromtimestamp(value / 1000, tz=UTC)


def to_milliseconds(at: datetime) -> int:
    """An instant as the servers count it."""
    return round(at.timestamp() * 1000)


def milliseconds(duration: timedelta | None) -> int:
    """A duration as the servers count it, rounded up so that it is never cut short; None is 0."""
    return 0 if duration is None else max(0, -(-duration // timedelta(milliseconds=1)))


def _instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("an instant without a zone")
    return at.astimezone(UTC)


def _optional(value: Any, kind: type) -> Any:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}")
    return value


def _exactly(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


def _read(codec: PayloadCodec, schema: str, data: object, build: Callable[[JsonObject], Record]) -> Record:
    """Build a record from stored bytes; missing, surplus and misshapen fields are refused alike."""
    fields = codec.decode(schema, data)
    try:
        record = build(fields)
    except (KeyError, ValueError, TypeError) as error:
        raise codec.error(f"Stored {schema} has missing or misshapen fields.") from error
    if fields:
        raise codec.error(f"Stored {schema} has unknown fields.")
    return record


def encode_job(codec: PayloadCodec, job: QueuedJob) -> bytes:
    """A job as it is stored."""
    fields = {"job_id": job.job_id, "kind": job.kind, "payload": job.payload, "run_id": job.run_id}
    return codec.encode(JOB_SCHEMA, fields)


def decode_job(codec: PayloadCodec, data: object) -> QueuedJob:
    """A job from what is stored."""
    return _read(
        codec,
        JOB_SCHEMA,
        data,
        lambda fields: QueuedJob(
            job_id=_exactly(fields.pop("job_id"), str),
            kind=_exactly(fields.pop("kind"), str),
            payload=_exactly(fields.pop("payload"), dict),
            run_id=_optional(fields.pop("run_id"), str),
        ),
    )


def decode_job_if_readable(codec: PayloadCodec, data: object) -> QueuedJob | None:
    """A job for a list in which one damaged entry must not hide the others."""
    try:
        return decode_job(codec, data)
    except PayloadError:
        return None


def encode_run(codec: PayloadCodec, record: RunRecord) -> bytes:
    """A run record as it is stored."""
    return codec.encode(
        RUN_SCHEMA,
        {
            "run_id": record.run_id,
            "version": record.version,
            "kind": record.kind,
            "state": record.state.value,
            "created_at": record.created_at.astimezone(UTC).isoformat(),
            "updated_at": record.updated_at.astimezone(UTC).isoformat(),
            "request": record.request,
            "outcome": record.outcome,
            "error": record.error,
        },
    )


def decode_run(codec: PayloadCodec, data: object) -> RunRecord:
    """A run record from what is stored."""
    return _read(
        codec,
        RUN_SCHEMA,
        data,
        lambda fields: RunRecord(
            run_id=_exactly(fields.pop("run_id"), str),
            version=_exactly(fields.pop("version"), int),
            kind=_exactly(fields.pop("kind"), str),
            state=RunState(fields.pop("state")),
            created_at=_instant(fields.pop("created_at")),
            updated_at=_instant(fields.pop("updated_at")),
            request=_exactly(fields.pop("request"), dict),
            outcome=_optional(fields.pop("outcome"), dict),
            error=_optional(fields.pop("error"), str),
        ),
    )


def encode_event(codec: PayloadCodec, checkpoints: CheckpointCodecProtocol, event: LoopEvent) -> bytes:
    """An event as it is stored, the checkpoint in its own encoding."""
    checkpoint = event.checkpoint
    attached = None if checkpoint is None else checkpoints.encode(checkpoint, checkpoint.revision).decode()
    return codec.encode(
        EVENT_SCHEMA,
        {
            "run_id": event.run_id,
            "kind": event.kind,
            "at": event.at.astimezone(UTC).isoformat(),
            "payload": event.payload,
            "checkpoint": attached,
        },
    )


def decode_event(codec: PayloadCodec, checkpoints: CheckpointCodecProtocol, data: object) -> LoopEvent:
    """An event from what is stored."""

    def checkpoint(run_id: str, attached: str | None) -> LoopContext | None:
        return None if attached is None else checkpoints.decode(run_id, attached)

    return _read(
        codec,
        EVENT_SCHEMA,
        data,
        lambda fields: LoopEvent(
            run_id=_exactly(fields["run_id"], str),
            kind=_exactly(fields.pop("kind"), str),
            at=_instant(fields.pop("at")),
            payload=_exactly(fields.pop("payload"), dict),
            checkpoint=checkpoint(fields.pop("run_id"), _optional(fields.pop("checkpoint"), str)),
        ),
    )


def encode_context(codec: PayloadCodec, context: RetainedContext) -> bytes:
    """A retained context as it is stored."""
    fields = {"run_id": context.run_id, "revision": context.revision, "content": context.content}
    return codec.encode(CONTEXT_SCHEMA, fields)


def decode_context(codec: PayloadCodec, data: object) -> RetainedContext:
    """A retained context from what is stored."""
    return _read(
        codec,
        CONTEXT_SCHEMA,
        data,
        lambda fields: RetainedContext(
            run_id=_exactly(fields.pop("run_id"), str),
            revision=_exactly(fields.pop("revision"), int),
            content=_exactly(fields.pop("content"), dict),
        ),
    )
