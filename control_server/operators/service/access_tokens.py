"""Access tokens of the sign-in service: verified here, and their grant asked for at most a second ago."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from control_server.operators.errors import AccessTokenRefused, TokenNotGood
from control_server.operators.rules.tokens import Expected, kid_of, scopes_of, verify_access_token
from control_server.operators.service.provider import Provider
from control_server.operators.service.verdicts import Verdicts
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.secrets import digest_of


@dataclass(slots=True)
class AccessTokens:
    """The bearers that the sign-in service let in."""

    provider: Provider
    now: Clock
    verdicts: Verdicts[Principal] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has been asked yet."""
        self.verdicts = Verdicts(self.provider.settings.sign_in, self.now)

    async def authenticate(self, text: str) -> Principal:
        """The person with the token's scopes and their role of now. Raises AccessTokenRefused or AuthAway."""
        try:
            keys = await self.provider.keys(kid_of(text))
            claims = verify_access_token(text, keys, self._expected())
        except TokenNotGood:
            raise AccessTokenRefused from None

        async def ask() -> Principal | None:
            return _principal_of(await self.provider.introspect(text), claims)

        principal = await self.verdicts.of(digest_of(text), ask)
        if principal is None:
            raise AccessTokenRefused
        return principal

    def _expected(self) -> Expected:
        settings = self.provider.settings
        return Expected(settings.issuer, settings.api_audience, self.now())


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
