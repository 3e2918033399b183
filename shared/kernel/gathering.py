"""One act for many who ask for the same kind of thing at once.

While one act is under way, those who ask gather for the next. So a burst costs about two acts, however many
are in it, and an answer is never older than the question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shared.kernel.errors import AppError

Value = TypeVar("Value")


@dataclass(slots=True)
class _Act(Generic[Value]):
    """What is done once, for all who asked before it began."""

    names: set[str] = field(default_factory=set)
    found: Mapping[str, Value] | None = None
    refusal: AppError | None = None


@dataclass(slots=True)
class Gathering(Generic[Value]):
    """Acts on the names of all who wait, one act at a time."""

    act: Callable[[Collection[str]], Awaitable[Mapping[str, Value]]]
    _next: _Act[Value] = field(default_factory=_Act)
    _acting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, name: str) -> Value | None:
        """What the act found for the name. A refusal is raised for everybody who had gathered."""
        mine = self._next
        mine.names.add(name)
        async with self._acting:
            # Whoever comes first acts for all; one who was cancelled meanwhile leaves it to the next.
            if mine.found is None and mine.refusal is None:
                await self._perform(mine)
        if mine.refusal is not None:
            raise mine.refusal
        return (mine.found or {}).get(name)

    async def _perform(self, gathered: _Act[Value]) -> None:
        if gathered is self._next:
            self._next = _Act()
        try:
            gathered.found = await self.act(gathered.names)
        except AppError as refusal:
            gathered.refusal = refusal
