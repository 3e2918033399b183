"""Valkey that is there for some steps and away for others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product

from shared.testing.servers import KeyValueServer

#: A character for each step: `+` where the tier is there, `-` where it is away.
Forecast = str


def changes_at_each_boundary(steps: int) -> list[Forecast]:
    """One change between each two steps, both ways, and a change between all of them."""
    once = [before * at + after * (steps - at) for at in range(1, steps) for before, after in ("+-", "-+")]
    always = [("+-" * steps)[:steps], ("-+" * steps)[:steps]]
    return sorted({*once, *always})


def every(steps: int) -> list[Forecast]:
    """All there are."""
    return ["".join(each) for each in product("+-", repeat=steps)]


class Weather:
    """Goes on by one step of the forecast whenever it is told to."""

    def __init__(self, kv: KeyValueServer, forecast: Forecast) -> None:
        self._kv = kv
        self._steps: Iterator[str] = iter(forecast)

    async def change(self) -> bool:
        """The tier as the next step finds it; whether it is there."""
        there = next(self._steps) == "+"
        # Beside the loop, which serves requests meanwhile.
        await asyncio.to_thread(self._kv.start if there else self._kv.stop)
        return there
