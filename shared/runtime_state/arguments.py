"""Arguments as callers write them, turned into what both back ends take, or refused before any effect.

Servers and clients disagree about odd arguments: one client refuses a float that the server would refuse in
other words, and `EX 0` reaches the server in the middle of a transaction. Here they are judged once for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from shared.runtime_state.contracts import RuntimeStateArgumentError

#: 68 years. Servers refuse what overflows their clock, which depends on the time of day; this does not.
MAX_SECONDS = 2**31 - 1
#: Keys or fields in one command, or in one batch together. So many `set` in a batch take 5 ms of the event
#: loop (measured), or of the server, and nobody else is served meanwhile.
MAX_ARGUMENTS = 1024

_SECOND = timedelta(seconds=1)


def encode_name(name: object, what: str) -> bytes:
    """A key or a field: any text, any bytes, also empty."""
    if isinstance(name, bytes):
        return name
    if isinstance(name, str):
        return _utf8(name, what)
    raise RuntimeStateArgumentError(f"a {what} is str or bytes, not {type(name).__name__}")


def encode_value(value: object) -> bytes:
    """A value: text as UTF-8, an integer as decimal text, bytes as they are."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _utf8(value, "value")
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return b"%d" % value
        except ValueError:
            raise RuntimeStateArgumentError("an integer value has too many digits") from None
    raise RuntimeStateArgumentError(f"a value is str, bytes or int, not {type(value).__name__}")


def encode_fields(mapping: object) -> dict[bytes, bytes]:
    """The fields of a hash; a name given as text and as bytes is one field, and the last value wins."""
    if not isinstance(mapping, Mapping) or not mapping:
        raise RuntimeStateArgumentError("a hash is written from a mapping with at least one field")
    check_count(len(mapping))
    return {encode_name(name, "field"): encode_value(value) for name, value in mapping.items()}


def encode_field_names(fields: object) -> list[bytes]:
    """The fields to read, in order, with repetitions."""
    if isinstance(fields, str | bytes) or not isinstance(fields, Iterable):
        raise RuntimeStateArgumentError("the fields to read are several names")
    names = [encode_name(name, "field") for name in fields]
    check_count(len(names))
    return names


def lifetime(seconds: object) -> int | None:
    """The lifetime given with a write: absent, or positive whole seconds."""
    if seconds is None:
        return None
    whole = whole_seconds(seconds)
    if whole <= 0:
        raise RuntimeStateArgumentError("a lifetime is positive")
    return whole


def whole_seconds(seconds: object) -> int:
    """Whole seconds of either sign."""
    if isinstance(seconds, timedelta):
        if seconds % _SECOND:
            raise RuntimeStateArgumentError("a duration is whole seconds")
        seconds = seconds // _SECOND
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise RuntimeStateArgumentError(f"seconds are an integer, not {type(seconds).__name__}")
    if abs(seconds) > MAX_SECONDS:
        raise RuntimeStateArgumentError(f"a duration is at most {MAX_SECONDS} seconds")
    return seconds


def flag(value: object) -> bool:
    """True or False themselves, not what merely counts as such."""
    if not isinstance(value, bool):
        raise RuntimeStateArgumentError(f"nx is True or False, not {type(value).__name__}")
    return value


def check_count(count: int) -> None:
    """Refuse nothing at all, and refuse too much at once."""
    if count == 0:
        raise RuntimeStateArgumentError("at least one key or field is needed")
    if count > MAX_ARGUMENTS:
        raise RuntimeStateArgumentError(f"at most {MAX_ARGUMENTS} keys and fields at once")


def _utf8(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise RuntimeStateArgumentError(f"a {what} holds a lone surrogate, which no encoding has") from None
