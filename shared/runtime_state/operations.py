"""The writes that a batch may hold, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SetValue:
    """`SET key value [EX seconds] [NX]`."""

    key: bytes
    value: bytes
    seconds: int | None = None
    only_if_absent: bool = False


@dataclass(frozen=True, slots=True)
class SetFields:
    """`HSET key field value …`."""

    key: bytes
    fields: dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Expire:
    """`EXPIRE key seconds`."""

    key: bytes
    seconds: int


@dataclass(frozen=True, slots=True)
class Delete:
    """`DEL key …`."""

    keys: tuple[bytes, ...]


Operation = SetValue | SetFields | Expire | Delete
