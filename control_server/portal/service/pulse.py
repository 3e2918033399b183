"""What the pages that join features need to know: whether anything in the fleet has changed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

#: How often the fleet is looked at while somebody watches, however many they are.
_LOOK_EVERY = 1.0
#: What is measured is measured so often, and charts of it are drawn anew.
_MEASURED_EVERY = 30.0
#: A quiet stream still says this often that it lives.
_BEAT_EVERY = 10.0


@dataclass(slots=True)
class FleetPulse:
    """One look at the fleet a second for all who watch it."""

    look: Callable[[], Awaitable[str]]
    _digest: str = ""
    _looked_at: float = float("-inf")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def digest(self) -> str:
        """A short text that differs when the fleet looks different; at most a second old."""
        clock = asyncio.get_running_loop().time
        async with self._lock:
            if clock() - self._looked_at >= _LOOK_EVERY:
                self._digest = hashlib.sha256((await self.look()).encode()).hexdigest()
                self._looked_at = clock()
        return self._digest

    async def changes(self) -> AsyncIterator[str]:
        """`changed` when it is so, `measured` now and then, `beat` in between, for as long as it is read."""
        known = await self.digest()
        yield "beat"
        quiet = unmeasured = 0.0
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            quiet += _LOOK_EVERY
            unmeasured += _LOOK_EVERY
            if unmeasured >= _MEASURED_EVERY:
                unmeasured = 0.0
                yield "measured"
            now = await self.digest()
            if now != known:
                known, quiet = now, 0.0
                yield "changed"
            elif quiet >= _BEAT_EVERY:
                quiet = 0.0
                yield "beat"
