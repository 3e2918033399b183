"""Where the master is now, asked of the sentinels before every connect."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from shared.cache.errors import Reason
from shared.cache.replies import ErrorReply
from shared.cache.tier import Tier
from shared.cache.transport import Endpoint, ExchangeFailed, new_line


class SentinelLocator:
    """Asks the sentinels in turn, beginning with the one that answered last."""

    def __init__(self, tier: Tier, sentinels: Sequence[Endpoint], service: str, patience: timedelta) -> None:
        self._tier = tier
        self._sentinels = list(sentinels)
        self._service = service
        # The whole search has to fit into the deadline of the call that needs the connection.
        self._patience = patience.total_seconds() / (2 * len(self._sentinels))

    async def locate(self) -> tuple[str, int]:
        """The master's host and port; raises ExchangeFailed when no sentinel knows one."""
        for sentinel in list(self._sentinels):
            try:
                async with asyncio.timeout(self._patience):
                    address = await self._ask(sentinel)
            except (ExchangeFailed, TimeoutError):
                continue
            if address is not None:
                self._sentinels.remove(sentinel)
                self._sentinels.insert(0, sentinel)
                return address
        raise ExchangeFailed(Reason.CONNECTION, sent=False)

    async def _ask(self, sentinel: Endpoint) -> tuple[str, int] | None:
        line = new_line(self._tier, sentinel)
        try:
            await line.open()
            await line.send("SENTINEL", "get-master-addr-by-name", self._service)
            reply = await line.receive()
        finally:
            await line.close()
        if isinstance(reply, ErrorReply) or not reply:
            return None
        host, port = reply
        return host.decode(), int(port)
