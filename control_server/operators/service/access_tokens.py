"""Access tokens of the sign-in service: verified here, and their grant asked for at most a second ago."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from control_server.operators.errors import AccessTokenRefused, AuthAway, TokenNotGood
from control_server.operators.rules.tokens import Expected, kid_of, scopes_of, verify_access_token
from control_server.operators.service.provider import Provider
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.secrets import digest_of

#: Tokens remembered by one process; beyond them the oldest answers are asked for again.
_MOST = 10_000
#: With the sign-in service away it is not asked again for so long, so that requests do not queue for it.
_PAUSE = timedelta(seconds=1)


@dataclass(slots=True)
class Verdict:
    """What the last introspection of one token said."""

    principal: Principal | None = None
    checked_at: datetime | None = None
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class AccessTokens:
    """The bearers that the sign-in service let in."""

    provider: Provider
    now: Clock
    _verdicts: OrderedDict[str, Verdict] = field(default_factory=OrderedDict)
    _quiet_until: datetime | None = None

    async def authenticate(self, text: str) -> Principal:
        """The person with the token's scopes and their role of now. Raises AccessTokenRefused or AuthAway."""
        try:
            keys = await self.provider.keys(kid_of(text))
            claims = verify_access_token(text, keys, self._expected())
        except TokenNotGood:
            raise AccessTokenRefused from None
        verdict = self._verdict_of(text)
        async with verdict.asking:
            if not self._younger(verdict, self._settings.grant_fresh):
                await self._ask(text, claims, verdict)
        if verdict.principal is None:
            raise AccessTokenRefused
        return verdict.principal

    @property
    def _settings(self) -> Any:
        return self.provider.settings.sign_in

    def _expected(self) -> Expected:
        settings = self.provider.settings
        return Expected(settings.issuer, settings.api_audience, self.now())

    def _younger(self, verdict: Verdict, age: timedelta) -> bool:
        return verdict.checked_at is not None and self.now() - verdict.checked_at < age

    async def _ask(self, text: str, claims: dict[str, Any], verdict: Verdict) -> None:
        """Ask anew; a sign-in service that is away leaves what was good good for a while."""
        try:
            said = await self._introspect(text)
        except AuthAway:
            if not self._younger(verdict, self._settings.grant_stale):
                raise
            return
        verdict.principal = _principal_of(said, claims)
        verdict.checked_at = self.now()

    async def _introspect(self, text: str) -> dict[str, Any]:
        if self._quiet_until is not None and self.now() < self._quiet_until:
            raise AuthAway(retry_after=_PAUSE)
        try:
            return await self.provider.introspect(text)
        except AuthAway:
            self._quiet_until = self.now() + _PAUSE
            raise

    def _verdict_of(self, text: str) -> Verdict:
        digest = digest_of(text)
        verdict = self._verdicts.setdefault(digest, Verdict())
        self._verdicts.move_to_end(digest)
        while len(self._verdicts) > _MOST:
            self._verdicts.popitem(last=False)
        return verdict


def _principal_of(said: dict[str, Any], claims: dict[str, Any]) -> Principal | None:
    """Who the grant lets in, with no more than token and role both allow; None for nobody."""
    if said.get("active") is not True or said.get("sub") != claims["sub"]:
        return None
    try:
        role = Role(said["role"])
    except (KeyError, ValueError):
        return None
    scopes = scopes_of(claims.get("scope")) & scopes_of(said.get("scope"))
    name = str(said.get("username") or claims["sub"])
    return Principal(f"person:{claims['sub']}", PrincipalKind.PERSON, name, role, scopes)
