"""Streams that break in known ways, to see that the page mends them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass(slots=True)
class StreamScripts:
    """`whole` ends well; `cut` ends twice without a word; `busy` first answers 503; `gone` answers 404;
    `open` says a little and stays."""

    asked: Counter[str] = field(default_factory=Counter)
    resumed_from: list[str] = field(default_factory=list)

    def play(self, script: str, last: str) -> Response:
        """The answer to one connection."""
        name = script.split("-", 1)[0]
        self.asked[script] += 1
        self.resumed_from.append(last)
        if name == "gone":
            return Response(status_code=404)
        if name == "busy" and self.asked[script] == 1:
            return Response(status_code=503)
        first = int(last.split("-")[1]) + 1 if last else 1
        final = 12
        until = min(first + 4, final) if name in {"cut", "open"} else final
        return StreamingResponse(_events(first, until, final, name), media_type="text/event-stream")


async def _events(first: int, until: int, final: int, name: str) -> AsyncIterator[str]:
    yield "retry: 100\n\n: keep-alive\n\n"
    # One line before is told again, as a server does that is not sure.
    for seq in range(max(1, first - 1), until + 1):
        if name == "hole" and seq == 5:
            yield _event("gap", {"node": "hkg1", "from": 5, "to": 6})
        if name == "hole" and seq in {5, 6}:
            continue
        text = "<img src=x onerror=alert(1)>" if seq == 4 else f"64 bytes from 2001:db8:47::53: seq={seq}"
        yield _event("output", {"node": "hkg1", "seq": seq, "stream": "stdout", "text": text}, f"e-{seq}")
    if name == "open":
        await asyncio.Event().wait()
    if until == final:
        yield _event("values", {"rtt": "36.4 ms"})
        yield _event("state", {"node": "hkg1", "state": "done"})
        yield _event("done", {"state": "done"})


def _event(name: str, data: dict[str, object], ident: str = "") -> str:
    line = f"id: {ident}\n" if ident else ""
    return f"event: {name}\n{line}data: {json.dumps(data)}\n\n"
