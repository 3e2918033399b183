"""Steps that join several keys: a state exchanged together with what follows from it, and new ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from shared.cache import codec
from shared.cache.entries import milliseconds_of, payload_of
from shared.cache.gateway import Gateway, Operation
from shared.cache.keys import Key, Kind
from shared.cache.lists import LogTarget
from shared.cache.scripting import script


class Advance(IntEnum):
    """What became of a step."""

    #: The guard is gone: nothing was changed.
    GONE = -1
    #: The state is not the one that was seen: look again.
    OVERTAKEN = 0
    DONE = 1
    #: The log has no room for all of the items: nothing was changed.
    FULL = 2


@dataclass(frozen=True, slots=True)
class Advanced:
    """The outcome, and the number of the last item of the log."""

    outcome: Advance
    sequence: int


@dataclass(frozen=True, slots=True)
class LogStep:
    """From the state that was seen (None: none was there) to the next, for a log with a guard."""

    target: LogTarget
    state: Key
    seen: Any
    following: Any
    #: Keep the newest, as many as this, instead of refusing what does not fit.
    keep_newest: int | None = None


class Steps:
    """The scripts of one tier that touch more than one key."""

    def __init__(self, gateway: Gateway, name_of: Callable[[Key], bytes]) -> None:
        self._gateway = gateway
        self._name_of = name_of

    async def advance(self, step: LogStep, values: Sequence[Any], ttl_seconds: float) -> Advanced:
        """All of it or nothing."""
        log, state = step.target.log, step.state.family
        if log.family.kind is not Kind.LOG or log.family.cap is None:
            raise ValueError(f"{log.family.name} is no log with a cap")
        channel = step.target.channel
        outcome, sequence = await self._gateway.run(
            Operation("advance", log.family.name, writes=True),
            script("advance"),
            [self._name_of(log), self._name_of(step.target.guard), self._name_of(step.state)],
            b"" if channel is None else self._name_of(channel),
            milliseconds_of(log.family, ttl_seconds),
            min(log.family.cap, step.keep_newest or log.family.cap),
            "refuse" if step.keep_newest is None else "trim",
            b"" if step.seen is None else codec.encode(state, step.seen),
            payload_of(state, step.following),
            *(codec.encode_item(log.family, value) for value in values),
        )
        result = Advanced(Advance(outcome), sequence)
        self._count("advance", log, result.outcome.name.lower())
        return result

    async def keep(self, keys: Sequence[Key], ttl_seconds: float) -> None:
        """One exchange for all of them."""
        if not keys:
            return
        operation = Operation("keep", keys[0].family.name, writes=True)
        commands = [("PEXPIRE", self._name_of(key), milliseconds_of(key.family, ttl_seconds)) for key in keys]
        await self._gateway.perform(operation, *commands)
        self._count("keep", keys[0], "stored")

    def _count(self, operation: str, key: Key, result: str) -> None:
        self._gateway.observer.counted(self._gateway.tier, key.family.name, operation, result)
