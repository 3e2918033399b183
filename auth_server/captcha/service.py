"""When a captcha is due, and whether it was passed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from auth_server.captcha.errors import CaptchaNeeded, CaptchaRefused
from auth_server.captcha.store import CapServer

#: Tokens are much shorter; what is longer is not sent on.
_LONGEST = 1024


@dataclass(frozen=True, slots=True)
class Captcha:
    """Without a Cap server nothing is ever due. With it away, what needs it waits: passkeys do not."""

    server: CapServer | None
    #: So many failures of an address make it due where a passkey is shown.
    due_after: int
    #: How often an address failed in the present window.
    failures: Callable[[str], Awaitable[int]]

    async def is_due(self, place: str) -> bool:
        """Whether a passkey from this address needs it as well."""
        return self.server is not None and await self.failures(place) >= self.due_after

    async def demand(self, token: str) -> None:
        """Go on only with a good token. Raises CaptchaNeeded, CaptchaRefused or CaptchaAway."""
        if self.server is None:
            return
        if not token:
            raise CaptchaNeeded
        if len(token) > _LONGEST or not await self.server.verify(token):
            raise CaptchaRefused

    async def demand_if_due(self, place: str, token: str) -> None:
        """The same where it is due for this address."""
        if await self.is_due(place):
            await self.demand(token)
