"""The Cap server, asked whether a token is good. It spends the token, so each is good once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httpx2

from auth_server.captcha.errors import CaptchaAway

#: Seconds for the whole answer.
_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class CapServer:
    """One site key of one Cap server."""

    http: httpx2.AsyncClient
    #: Ends with the site key and a slash.
    address: str
    secret: str = field(repr=False)
    seconds: float = _PATIENCE

    async def verify(self, token: str) -> bool:
        """Whether the token was earned at this site key and not used yet.

        Any answer but 200 with `success: true` is a no. Raises CaptchaAway where there is no answer at all.
        """
        body = {"secret": self.secret, "response": token}
        try:
            async with asyncio.timeout(self.seconds):
                answer = await self.http.post(
                    f"{self.address}siteverify", json=body, follow_redirects=False, timeout=self.seconds
                )
        except (httpx2.HTTPError, TimeoutError) as error:
            raise CaptchaAway from error
        if answer.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
            raise CaptchaAway
        try:
            told = answer.json()
        except (ValueError, RecursionError):
            return False
        good = answer.status_code == httpx2.codes.OK and isinstance(told, dict)
        return good and told.get("success") is True
