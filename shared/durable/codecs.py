"""Strict, versioned JSON for whatever is stored. An unknown version or a damaged byte is refused."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from shared.durable import strict_json
from shared.durable.errors import PayloadError, RedisPayloadError
from shared.durable.keys import check_identifier
from shared.durable.records import LoopContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.durable.records import JsonObject

    #: Takes secrets out of an object before it is stored; answers a new object.
    Redactor = Callable[[JsonObject], JsonObject]

CHECKPOINT_SCHEMA = "routeloom.checkpoint.v1"
#: A header is found within so many bytes: the schema, two numbers, a run id of at most 200 bytes.
HEADER_LIMIT = 512

_HEADER = re.compile(
    rb'\{"schema":"([^"\\]*)","revision":(0|[1-9][0-9]{0,15}),"run_id":"([^"\\]*)",'
    rb'"bytes":(0|[1-9][0-9]*),"crc":"([0-9a-f]{8})",'
)
_FIELDS = ("plan", "cursor", "feedback", "awaiting", "metadata")


class PayloadCodec:
    """One JSON object a value, with its schema as the first member."""

    error: ClassVar[type[PayloadError]] = PayloadError

    def __init__(self, redactor: Redactor | None = None) -> None:
        """Store what the redactor leaves of each object; by default everything."""
        self._redactor = redactor

    def encode(self, schema: str, fields: JsonObject) -> bytes:
        """Encode the fields under a schema such as `routeloom.run.v1`."""
        kept = fields if self._redactor is None else self._redactor(fields)
        try:
            return strict_json.dump({"schema": schema, **kept})
        except (ValueError, TypeError) as error:
            raise self.error(f"This cannot be stored as {schema}: {error}.") from error

    def decode(self, schema: str, data: object) -> JsonObject:
        """Return the fields, or refuse another schema and anything that is not such an object."""
        if not isinstance(data, bytes | str):
            raise self.error(f"Expected the bytes of {schema}, found {type(data).__name__}.")
        try:
            found = strict_json.parse(data)
        except ValueError as error:
            raise self.error(f"Stored {schema} is damaged.") from error
        if not isinstance(found, dict) or found.pop("schema", None) != schema:
            raise self.error(f"Stored value is not {schema}.")
        return found


class RedisPayloadCodec(PayloadCodec):
    """The codec of the adapters on Redis."""

    error = RedisPayloadError


@dataclass(frozen=True, slots=True)
class CheckpointHeader:
    """What stands before a checkpoint's body."""

    schema: str
    revision: int
    run_id: str
    body_bytes: int
    checksum: str
    #: Bytes before the body.
    size: int


def read_header(start: bytes) -> CheckpointHeader | None:
    """The header at the start of stored bytes; None when they begin in another way."""
    match = _HEADER.match(start)
    if match is None:
        return None
    parts = (part.decode(errors="replace") for part in match.groups())
    schema, revision, run_id, body_bytes, checksum = parts
    return CheckpointHeader(schema, int(revision), run_id, int(body_bytes), checksum, match.end())


def _checksum(revision: int, run_id: str, body: bytes) -> str:
    """Covers the header's facts too, so a flipped digit of the revision is found."""
    return f"{zlib.crc32(body, zlib.crc32(f'{CHECKPOINT_SCHEMA}|{revision}|{run_id}|'.encode())):08x}"


class CheckpointCodecProtocol(Protocol):
    """What a checkpoint store asks of its codec."""

    def encode(self, context: LoopContext, revision: int) -> bytes:
        """Encode the context as that revision, header first."""

    def decode(self, run_id: str, data: object) -> LoopContext:
        """Return the context, or refuse the bytes."""


class CheckpointCodec:
    """Writes schema, revision, run id and body length first, without spaces, so a script can match them.

    A document with another order of members, written by other hands, is read too: it carries no length
    and no checksum. One that begins with our header must match both.
    """

    error: ClassVar[type[PayloadError]] = PayloadError

    def __init__(self, redactor: Redactor | None = None) -> None:
        """Store what the redactor leaves of the context's fields; by default everything."""
        self._redactor = redactor

    def encode(self, context: LoopContext, revision: int) -> bytes:
        """Encode the context as that revision; the context itself stays as it is."""
        run_id = check_identifier(context.run_id)
        fields: JsonObject = {name: getattr(context, name) for name in _FIELDS}
        if self._redactor is not None:
            fields = self._redactor(fields)
        try:
            body = strict_json.dump(fields)[1:]
        except (ValueError, TypeError) as error:
            raise self.error(f"Checkpoint of run {run_id} cannot be stored: {error}.") from error
        header = (
            f'{{"schema":"{CHECKPOINT_SCHEMA}","revision":{revision},"run_id":"{run_id}",'
            f'"bytes":{len(body)},"crc":"{_checksum(revision, run_id, body)}",'
        )
        return header.encode() + body

    def decode(self, run_id: str, data: object) -> LoopContext:
        """Return the context, or refuse damage, another schema and another run's checkpoint."""
        raw = data.encode(errors="surrogatepass") if isinstance(data, str) else data
        if not isinstance(raw, bytes):
            raise self.error(f"Expected the bytes of a checkpoint, found {type(raw).__name__}.")
        header = read_header(raw[:HEADER_LIMIT])
        if header is not None and header.schema == CHECKPOINT_SCHEMA:
            self._verify(run_id, header, raw[header.size :])
        try:
            found = strict_json.parse(raw)
        except ValueError as error:
            raise self.error(f"Checkpoint of run {run_id} is damaged.") from error
        return self._context(run_id, found, canonical=header is not None)

    def _verify(self, run_id: str, header: CheckpointHeader, body: bytes) -> None:
        intact = len(body) == header.body_bytes
        if not intact or header.checksum != _checksum(header.revision, header.run_id, body):
            raise self.error(f"Checkpoint of run {run_id} is damaged.")

    def _context(self, run_id: str, found: Any, *, canonical: bool) -> LoopContext:
        if not isinstance(found, dict) or found.pop("schema", None) != CHECKPOINT_SCHEMA:
            raise self.error(f"Checkpoint of run {run_id} has an unknown schema.")
        if canonical:
            del found["bytes"], found["crc"]
        revision = found.pop("revision", None)
        if found.pop("run_id", None) != run_id or type(revision) is not int or revision < 0:
            raise self.error(f"Checkpoint of run {run_id} names another run or no revision.")
        shapes = {"plan": list, "cursor": dict, "feedback": list, "awaiting": dict, "metadata": dict}
        if {name: type(value) for name, value in found.items()} != shapes:
            raise self.error(f"Checkpoint of run {run_id} has unknown, missing or misshapen fields.")
        return LoopContext(run_id=run_id, revision=revision, **found)


class LoopCheckpointCodec(CheckpointCodec):
    """The checkpoint codec of the adapters on Redis."""

    error = RedisPayloadError
