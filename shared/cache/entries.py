"""Single values: read with their state, written with a TTL, filled only when nothing changed meanwhile."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shared.cache import codec
from shared.cache.codec import Decoded, State
from shared.cache.errors import PayloadError, Reason, TierUnavailable
from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import Key, KeyFamily, Kind
from shared.cache.scripting import script
from shared.cache.tier import Tier

#: More than half: agents report twice in the TTL of their tokens, and half would be missed by a moment.
_LAST_PART = 0.6


@dataclass(frozen=True, slots=True)
class Entry:
    """What stood under a key. `seen` identifies the stored text; `left` are the seconds until it is gone."""

    state: State
    value: Any = None
    seen: str = ""
    left: float = math.inf

    @property
    def answers(self) -> bool:
        """Whether it is an answer: a value, or that there is none."""
        return self.state in {State.HIT, State.NEGATIVE}


class Entries:
    """The keys of one tier that hold one value each."""

    def __init__(self, gateway: Gateway, name_of: Callable[[Key], bytes]) -> None:
        self._gateway = gateway
        self._name_of = name_of

    async def find(self, key: Key) -> Entry:
        """What is there. A key of another type counts as a miss."""
        operation = Operation("get", key.family.name)
        name = self._name_of(key)
        timed = key.family.timed
        try:
            replies = await self._gateway.perform(
                operation, ("GET", name), *([("PTTL", name)] if timed else [])
            )
        except TierUnavailable as error:
            if error.reason is not Reason.WRONG_TYPE:
                raise
            return Entry(State.MISS)
        raw = replies[0]
        decoded = await self._understood(operation, key, raw)
        left = replies[1] / 1000 if timed and replies[1] >= 0 else math.inf
        seen = "" if raw is None else hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        entry = Entry(decoded.state, decoded.value, seen, left)
        await self._renew(key, entry)
        return entry

    async def find_many(self, keys: list[Key]) -> list[Any]:
        """The values in the order of the keys, None where there is none."""
        operation = Operation("get_many", keys[0].family.name)
        (replies,) = await self._gateway.perform(operation, ("MGET", *map(self._name_of, keys)))
        found = [await self._understood(operation, key, raw) for key, raw in zip(keys, replies, strict=True)]
        return [decoded.value for decoded in found]

    async def take(self, key: Key) -> Any:
        """The value, gone with the same step; of many who take, one gets it."""
        operation = Operation("take", key.family.name, writes=True)
        (raw,) = await self._gateway.perform(operation, ("GETDEL", self._name_of(key)))
        return (await self._understood(operation, key, raw)).value

    async def store(self, key: Key, payload: bytes, milliseconds: int, *options: str) -> bool:
        """Write a payload; with `NX`, only where nothing is."""
        operation = Operation("set", key.family.name, writes=True)
        (reply,) = await self._gateway.perform(
            operation, ("SET", self._name_of(key), payload, "PX", milliseconds, *options)
        )
        return self.counted(operation, "stored" if reply == b"OK" else "present") == "stored"

    async def fill(self, key: Key, payload: bytes, milliseconds: int, seen: str) -> bool:
        """Write what was loaded, unless what was seen before loading is no longer what is there."""
        operation = Operation("fill", key.family.name, writes=True)
        reply = await self._gateway.run(
            operation, script("fill_unless_revoked"), [self._name_of(key)], payload, milliseconds, seen
        )
        return self.counted(operation, "stored" if reply else "overtaken") == "stored"

    async def claim(self, key: Key, suffix: str, token: str, milliseconds: int) -> bool:
        """Put a token beside a key, if there is none."""
        operation = Operation("claim", key.family.name, writes=True)
        name = self._name_of(key) + suffix.encode()
        (reply,) = await self._gateway.perform(operation, ("SET", name, token, "PX", milliseconds, "NX"))
        return self.counted(operation, "stored" if reply else "present") == "stored"

    async def release(self, key: Key, suffix: str, token: str) -> None:
        """Take our own token away again."""
        operation = Operation("release", key.family.name, writes=True)
        name = self._name_of(key) + suffix.encode()
        await self._gateway.run(operation, script("release_token"), [name], token)

    def counted(self, operation: Operation, result: str) -> str:
        """Count how an operation ended, and give the word back."""
        self._gateway.observer.counted(self._gateway.tier, operation.family, operation.name, result)
        return result

    async def _understood(self, operation: Operation, key: Key, raw: bytes | None) -> Decoded:
        decoded = codec.decode(key.family, raw)
        self.counted(operation, decoded.state)
        if decoded.state is State.UNDECODABLE:
            self._gateway.alarms.ring("tier_value_undecodable", key.family.name)
            if self._gateway.tier is Tier.CACHE and operation.name != "take":
                # SQL has it. In kv it is the only copy, and a newer release may have written it.
                await self._remove_quietly(key)
        return decoded

    async def _renew(self, key: Key, entry: Entry) -> None:
        family = key.family
        if not family.renewed or family.ttl is None or not in_last_part(entry, family.ttl.total_seconds()):
            return
        milliseconds = milliseconds_of(family, family.ttl.total_seconds())
        try:
            await self._gateway.perform(
                Operation("renew", family.name, writes=True), ("PEXPIRE", self._name_of(key), milliseconds)
            )
        except TierUnavailable:
            return  # counted; the value was read and is right
        self.counted(Operation("renew", family.name), "stored")

    async def _remove_quietly(self, key: Key) -> None:
        try:
            await self._gateway.perform(
                Operation("delete", key.family.name, writes=True), ("UNLINK", self._name_of(key))
            )
        except TierUnavailable:
            return


def in_last_part(entry: Entry, ttl_seconds: float) -> bool:
    """Whether a value, not the knowledge that there is none, has little of its TTL left."""
    return entry.state is State.HIT and entry.left < ttl_seconds * _LAST_PART


def payload_of(family: KeyFamily, value: Any) -> bytes:
    """The stored text of a value, refused when it is larger than the family allows."""
    payload = codec.encode(family, value)
    if family.kind in {Kind.JSON, Kind.TEXT} and family.cap is not None and len(payload) > family.cap:
        raise PayloadError(f"{family.name} holds at most {family.cap} bytes")
    return payload


def milliseconds_of(family: KeyFamily, ttl_seconds: float) -> int:
    """The TTL as the server takes it, varied as far as the family allows."""
    if not (0 < ttl_seconds < math.inf):
        raise ValueError(f"{family.name}: a TTL is a positive number of seconds")
    spread = random.uniform(-family.jitter, family.jitter) if family.jitter else 0.0  # noqa: S311 - not a secret
    return max(1, round(ttl_seconds * (1 + spread) * 1000))
