"""Making the signed tokens: access, ID and logout tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Protocol
from uuid import UUID

from auth_server.clients.models import Client
from auth_server.clients.schemas import OpenIdScope
from auth_server.settings import AuthSettings
from auth_server.signing_keys.schemas import Algorithm
from auth_server.tokens import rules
from auth_server.tokens.schemas import Answer, Family, LiveAccount, LiveGrant
from shared.kernel.clock import Clock
from shared.kernel.principal import Role

ACCESS_TOKEN = "at+jwt"  # noqa: S105 - a type of RFC 9068
ID_TOKEN = "JWT"  # noqa: S105 - a type of RFC 7519
LOGOUT_TOKEN = "logout+jwt"  # noqa: S105 - a type of OpenID Connect Back-Channel Logout
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_LIFE = timedelta(minutes=2)
#: Random bytes in the id of a token: two of one id are as good as impossible (RFC 7519, section 4.1.7).
_ID_BYTES = 16


class Sealing(Protocol):
    """Encrypts texts for one purpose each."""

    def close(self, text: str, purpose: str) -> str:
        """Seal a text; it opens for the same purpose only."""

    def open(self, sealed: str, purpose: str) -> str:
        """The text again."""


class Signing(Protocol):
    """Keys that sign, and what only this installation can read."""

    @property
    def seal(self) -> Sealing:
        """What keeps texts of ours readable for this installation only."""

    async def sign(self, claims: Mapping[str, Any], typ: str, algorithm: Algorithm = ...) -> str:
        """A compact JWT by the algorithm's current key."""


@dataclass(frozen=True, slots=True)
class Minter:
    """Signs tokens for one installation."""

    keys: Signing
    settings: AuthSettings
    now: Clock
    #: What the person has proved to hold in the registry.
    owned: Callable[[UUID], Awaitable[dict[str, Any]]]

    @property
    def issuer(self) -> str:
        """Who signs."""
        return self.settings.issuer

    async def answer(
        self,
        family: Family,
        client: Client,
        scopes: Sequence[str],
        *,
        nonce: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """A token response with an access token, and an ID token where `openid` was granted."""
        grant, account = family.grant, family.account
        granted = rules.scopes_for(Role(account.role), scopes)
        whose = {
            "sub": str(account.id),
            "client_id": grant.client_id,
            "grant_id": str(grant.id),
            "role": account.role,
            "auth_time": _seconds(grant.auth_time),
        }
        answer = await self._answer(whose, granted, key)
        if OpenIdScope.OPENID in granted:
            claims = self._id_claims(grant, account, granted)
            claims |= await self.network_claims(account.id, granted)
            claims["at_hash"] = rules.at_hash(answer["access_token"])
            if nonce is not None:
                claims["nonce"] = nonce
            algorithm = Algorithm(client.id_token_signed_response_alg)
            answer["id_token"] = await self.keys.sign(claims, ID_TOKEN, algorithm)
        return answer

    async def service_answer(self, client: Client, scopes: Sequence[str], key: str | None = None) -> Answer:
        """A token response for a client that acts on its own and is its own subject (RFC 9068, 2.2)."""
        whose = {"sub": client.id, "client_id": client.id, "role": client.role}
        return await self._answer(whose, scopes, key)

    async def network_claims(self, account_id: UUID, scopes: Sequence[str]) -> dict[str, Any]:
        """`asn`, `mntner` and `dn42` where they are proved and the scope was granted."""
        return await self.owned(account_id) if OpenIdScope.DN42 in scopes else {}

    async def logout_token(self, client_id: str, subject: str, session_id: str) -> str:
        """Tells a client that a session has ended (OpenID Connect Back-Channel Logout, section 2.4)."""
        claims = {
            "iss": self.issuer,
            "aud": client_id,
            "sub": subject,
            "sid": session_id,
            "jti": token_hex(_ID_BYTES),
            "events": {_LOGOUT_EVENT: {}},
            **self._times(_LOGOUT_LIFE),
        }
        return await self.keys.sign(claims, LOGOUT_TOKEN)

    async def _answer(self, whose: dict[str, Any], scopes: Sequence[str], key: str | None) -> Answer:
        audience = [self.issuer]
        if rules.reaches_the_api(scopes):
            audience.append(self.settings.api_audience)
        life = self.settings.tokens.access_token_life
        claims = {
            "iss": self.issuer,
            "aud": audience,
            **whose,
            "jti": token_hex(_ID_BYTES),
            "scope": " ".join(scopes),
            **self._times(life),
        }
        if key:
            claims["cnf"] = {"jkt": key}
        return {
            "access_token": await self.keys.sign(claims, ACCESS_TOKEN),
            "token_type": "DPoP" if key else "Bearer",
            "expires_in": int(life.total_seconds()),
            "scope": claims["scope"],
        }

    def _id_claims(self, grant: LiveGrant, account: LiveAccount, scopes: Sequence[str]) -> dict[str, Any]:
        acr = rules.acr_of(grant.amr)
        return {
            **rules.claims_of(account, scopes),
            "iss": self.issuer,
            "aud": grant.client_id,
            "azp": grant.client_id,
            "sid": str(grant.session_id),
            "auth_time": _seconds(grant.auth_time),
            "amr": list(grant.amr),
            **({"acr": acr} if acr else {}),
            **self._times(self.settings.tokens.id_token_life),
        }

    def _times(self, life: timedelta) -> dict[str, int]:
        at = self.now()
        return {"iat": _seconds(at), "exp": _seconds(at + life)}


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())
