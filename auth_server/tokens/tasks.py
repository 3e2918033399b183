"""Background work of tokens: clients are told of ended sessions, and what is over is forgotten."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import httpx2
import structlog

from auth_server.signing_keys.dependencies import make_signing_keys
from auth_server.tokens.dependencies import TokenParts, token_services
from auth_server.tokens.service.logouts import Notice
from shared.kernel.loops import Loop

log = structlog.get_logger(__name__)

_PATIENCE = 5.0
_LOOK = 15.0


@dataclass(slots=True)
class LogoutRelay:
    """Sends what the outbox holds: at once when kicked, again later where a client did not answer."""

    parts: TokenParts
    _kicked: asyncio.Event = field(default_factory=asyncio.Event)

    async def kick(self) -> None:
        """Something was queued."""
        self._kicked.set()

    async def run_once(self) -> None:
        """Wait for something to do, then do it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK):
                await self._kicked.wait()
        self._kicked.clear()
        await self.deliver()

    async def deliver(self) -> None:
        """One attempt for everything that is due. No transaction is open while clients are asked."""
        await make_signing_keys(self.parts.resources, self.parts.opened_keys)
        async with self.parts.resources.database.transaction() as session:
            notices = await token_services(self.parts, session).logouts.take_due()
        if not notices:
            return
        # Only the registered address is called: no redirect is followed, no proxy of the environment used.
        async with httpx2.AsyncClient(
            timeout=_PATIENCE, follow_redirects=False, trust_env=False, verify=ssl.create_default_context()
        ) as client:
            heard = await asyncio.gather(*(_tell(client, notice) for notice in notices))
        told = [notice for notice, good in zip(notices, heard, strict=True) if good]
        refused = [notice for notice, good in zip(notices, heard, strict=True) if not good]
        async with self.parts.resources.database.transaction() as session:
            await token_services(self.parts, session).logouts.forget_told(told, refused)


async def _tell(client: httpx2.AsyncClient, notice: Notice) -> bool:
    """Whether the client has nothing more to be told."""
    if notice.address is None:
        return True
    try:
        async with (
            asyncio.timeout(2 * _PATIENCE),
            client.stream("POST", notice.address, data={"logout_token": notice.token}) as answer,
        ):
            heard = answer.is_success
    except (httpx2.HTTPError, TimeoutError) as error:
        log.warning("backchannel.failed", client=notice.row.client_id, error=type(error).__name__)
        return False
    if not heard:
        log.warning("backchannel.refused", client=notice.row.client_id, status=answer.status_code)
    return heard


def loops(parts: TokenParts, relay: LogoutRelay) -> list[Loop]:
    """Tells clients of ended sessions, and forgets what nobody can use any more."""

    async def forget() -> None:
        async with parts.resources.database.transaction() as session:
            services = token_services(parts, session)
            await services.grants.forget()
            await services.inspection.forget()
            await services.clients.forget()

    return [
        Loop("tokens.tell_logouts", relay.run_once, timedelta(milliseconds=50), timedelta(seconds=90)),
        Loop("tokens.forget", forget, interval=timedelta(minutes=5)),
    ]
