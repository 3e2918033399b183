"""The one codec: compact UTF-8 JSON in an envelope that carries the schema version.

A value is `{"v":1,"d":…}`, an item of a numbered log `{"s":7,"v":1,"d":…}`. What is not a value cannot be
mistaken for one: "there is nothing", "this was revoked" and "load again" have envelopes of their own.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shared.cache.errors import PayloadError
from shared.cache.keys import KeyFamily, Kind

#: "We looked, and there is nothing."
NEGATIVE = b'{"v":0,"n":1}'
#: "This was revoked": negative to readers, and no fill may replace it.
TOMBSTONE = b'{"v":0,"n":2}'


class State(StrEnum):
    """What was found under a key."""

    HIT = "hit"
    MISS = "miss"
    NEGATIVE = "negative"
    FENCED = "fenced"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A stored text, understood; `sequence` only for items of a numbered log."""

    state: State
    value: Any = None
    sequence: int | None = None


_MISS = Decoded(State.MISS)
_NEGATIVE = Decoded(State.NEGATIVE)
_FENCED = Decoded(State.FENCED)
_UNDECODABLE = Decoded(State.UNDECODABLE)


def dump(value: Any) -> str:
    """Compact JSON; refuses what JSON cannot say instead of writing something close to it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadError(f"not JSON: {type(error).__name__}") from None


def encode(family: KeyFamily, value: Any) -> bytes:
    """Write a value of the family; None is not a value."""
    if value is None:
        raise PayloadError("None means that there is nothing, and is not stored as a value")
    if family.kind is Kind.TEXT:
        if not isinstance(value, str) or not value:
            raise PayloadError(f"{family.name} holds text that is not empty")
        return _utf8(value)
    return _utf8(f'{{"v":{family.schema_version},"d":{dump(value)}}}')


def encode_item(family: KeyFamily, value: Any) -> bytes:
    """The rest of a numbered item; the script that numbers it puts `{"s":<n>` before it."""
    if value is None:
        raise PayloadError("None means that there is nothing, and is no item")
    return _utf8(f',"v":{family.schema_version},"d":{dump(value)}}}')


def negative(family: KeyFamily) -> bytes:
    """What "there is nothing" looks like in this family."""
    return b"" if family.kind is Kind.TEXT else NEGATIVE


def tombstone(family: KeyFamily) -> bytes:
    """What "this was revoked" looks like in this family."""
    return b"" if family.kind is Kind.TEXT else TOMBSTONE


def fence() -> bytes:
    """A mark that no other mark equals: whoever loaded before it can tell."""
    return f'{{"v":0,"f":"{secrets.token_hex(8)}"}}'.encode()


def decode(family: KeyFamily, raw: bytes | None) -> Decoded:
    """Understand a stored text, or say that it cannot be understood; never raises."""
    if raw is None:
        return _MISS
    try:
        return _decode_number(raw) if family.kind in _NUMBERS else _decode_text(family, raw)
    except (ValueError, RecursionError):
        return _UNDECODABLE


_NUMBERS = frozenset({Kind.COUNTER, Kind.VERSION})


def _decode_number(raw: bytes) -> Decoded:
    return Decoded(State.HIT, int(raw))


def _decode_text(family: KeyFamily, raw: bytes) -> Decoded:
    text = raw.decode()
    if family.kind is Kind.TEXT:
        return Decoded(State.HIT, text) if text else _NEGATIVE
    document = json.loads(text)
    if not isinstance(document, dict):
        return _UNDECODABLE
    if document.get("v") == 0:
        return _NEGATIVE if "n" in document else _FENCED
    if document.get("v") != family.schema_version or document.get("d") is None:
        return _UNDECODABLE
    return Decoded(State.HIT, document["d"], document.get("s"))


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise PayloadError("not UTF-8: a lone surrogate") from None
