"""Carries out the rows' commands through the facade, as callers of ours would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from shared.runtime_state import (
    RuntimeStateArgumentError,
    RuntimeStateTypeError,
    RuntimeStateValueError,
)
from tests.contracts.runtime_state.language import show, steps, words
from tests.contracts.runtime_state.subjects import Subject

#: False is what a missing key or a lost race answers, in the table too.
COUNTING = {"DEL", "HSET"}


class Writes(Protocol):
    """What a client and a batch have in common."""

    def set(self, key: str, value: str, *, ex: Any = None, nx: bool = False) -> Any: ...

    def hset(self, key: str, mapping: Mapping[Any, Any]) -> Any: ...

    def expire(self, key: str, seconds: Any) -> Any: ...

    def delete(self, *keys: str) -> Any: ...


async def perform(subject: Subject, command: str) -> str:
    """The answer in the rows' own words."""
    try:
        return show(await _answer(subject, command))
    except RuntimeStateArgumentError:
        return "E:argument"
    except RuntimeStateTypeError:
        return "E:type"
    except RuntimeStateValueError:
        return "E:value"


class Said(str):
    """Shown as it is."""

    __slots__ = ()


async def _answer(subject: Subject, command: str) -> object:
    if command.startswith("BATCH["):
        batch = subject.client.batch()
        for parts in steps(command):
            write(batch, parts)
        return await batch.execute()
    name, *rest = words(command)
    if name == "LEAVE":
        await subject.leave(rest[0], int(rest[1]))
        return Said("left")
    if name == "GONE":
        await subject.outlive(rest[0])
        return Said("gone")
    reads: dict[str, Callable[..., Any]] = {
        "GET": subject.client.get,
        "TTL": subject.client.ttl,
        "INCR": subject.client.incr,
        "HGET": subject.client.hget,
        "HGETALL": subject.client.hgetall,
        "HMGET": lambda key, *fields: subject.client.hmget(key, fields),
    }
    if name in reads:
        return await reads[name](*rest)
    return await write(subject.client, [name, *rest])


def write(target: Writes, parts: list[str]) -> Any:
    """One of the four writes that a batch may hold too."""
    name, *rest = parts
    match name:
        case "SET":
            key, value, *options = rest
            ex = number(options[options.index("EX") + 1]) if "EX" in options else None
            return target.set(key, value, ex=ex, nx="NX" in options)
        case "HSET":
            return target.hset(rest[0], fields(rest[1:]))
        case "EXPIRE":
            return target.expire(rest[0], number(rest[1]))
        case "DEL":
            return target.delete(*rest)
        case _:
            raise AssertionError(name)


def number(text: str) -> object:
    """An integer where the text is one; else what the row wants refused."""
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def fields(flat: Iterable[str]) -> dict[str | bytes, str]:
    """A repeated field is given once as text and once as bytes: one mapping, two entries."""
    mapping: dict[str | bytes, str] = {}
    pairs = iter(flat)
    for name, value in zip(pairs, pairs, strict=True):
        mapping[name.encode() if name in mapping else name] = value
    return mapping
