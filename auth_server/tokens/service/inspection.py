"""What a token is good for: userinfo, introspection (RFC 7662), revocation (RFC 7009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from auth_server.accounts.models import Account
from auth_server.clients.errors import InvalidClient
from auth_server.clients.models import Client
from auth_server.clients.schemas import OpenIdScope
from auth_server.tokens import rules
from auth_server.tokens.errors import InsufficientScope, InvalidToken
from auth_server.tokens.models import Grant
from auth_server.tokens.repository import RefreshTokenRepository
from auth_server.tokens.schemas import Answer, RevokeReason
from auth_server.tokens.service.grants import GrantService
from auth_server.tokens.service.minting import ACCESS_TOKEN, Minter
from shared.kernel.clock import Clock
from shared.kernel.principal import Role
from shared.kernel.secrets import digest_of

_INACTIVE: Answer = {"active": False}
_SHOWN = ("sub", "client_id", "aud", "iss", "iat", "exp", "jti", "grant_id", "auth_time")


@dataclass(frozen=True, slots=True)
class InspectionService:
    """Reads tokens against their families; no answer is older than this transaction."""

    families: GrantService
    refresh_tokens: RefreshTokenRepository
    minter: Minter
    now: Clock

    async def userinfo(self, token: str) -> dict[str, Any]:
        """What the token's scopes tell of the person. Raises InvalidToken or InsufficientScope."""
        claims = await self._claims(token)
        family = await self._family(claims) if claims else None
        if claims is None or family is None:
            raise InvalidToken
        scopes = str(claims["scope"]).split()
        if OpenIdScope.OPENID not in scopes:
            raise InsufficientScope
        return rules.claims_of(family[1], scopes)

    async def introspect(self, client: Client, token: str) -> Answer:
        """The state of a token of the client's own or for its audience; for every other only "inactive"."""
        if not client.is_confidential:
            raise InvalidClient
        claims = await self._claims(token)
        if claims is None:
            return await self._introspect_refresh(client, token)
        family = await self._family(claims)
        concerns = claims["client_id"] == client.id or not set(client.audiences).isdisjoint(claims["aud"])
        if family is None or not concerns:
            return dict(_INACTIVE)
        _, account = family
        scopes = rules.scopes_for(Role(account.role), str(claims["scope"]).split())
        return {
            "active": True,
            "token_type": "Bearer",
            "scope": " ".join(scopes),
            "username": account.name,
            "role": account.role,
            **{name: claims[name] for name in _SHOWN},
        }

    async def revoke(self, client: Client, token: str) -> None:
        """End the family of the client's own token, access or refresh; nothing for every other text."""
        claims = await self._claims(token)
        if claims is not None:
            grant_id = UUID(claims["grant_id"])
        else:
            row = await self.refresh_tokens.find(digest_of(token))
            if row is None:
                return
            grant_id = row.grant_id
        family = await self.families.grants.find_live(grant_id, self.now())
        if family is not None and family[0].client_id == client.id:
            await self.families.revoke(grant_id, RevokeReason.REVOKED_BY_CLIENT)

    async def _introspect_refresh(self, client: Client, token: str) -> Answer:
        row = await self.refresh_tokens.find(digest_of(token))
        if row is None or row.consumed_at is not None or row.expires_at <= self.now():
            return dict(_INACTIVE)
        family = await self.families.grants.find_live(row.grant_id, self.now())
        if family is None or family[0].client_id != client.id:
            return dict(_INACTIVE)
        grant, account = family
        return {
            "active": True,
            "scope": " ".join(grant.scopes),
            "username": account.name,
            "sub": str(account.id),
            "client_id": grant.client_id,
            "iss": self.minter.issuer,
            "iat": int(row.created_at.timestamp()),
            "exp": int(row.expires_at.timestamp()),
            "grant_id": str(grant.id),
        }

    async def _claims(self, token: str) -> dict[str, Any] | None:
        """The claims of an access token of ours that has not expired."""
        claims = await self.minter.keys.verify(token, ACCESS_TOKEN)
        if claims is None or claims["iss"] != self.minter.issuer:
            return None
        return claims if claims["exp"] > self.now().timestamp() else None

    async def _family(self, claims: dict[str, Any]) -> tuple[Grant, Account] | None:
        return await self.families.grants.find_live(UUID(claims["grant_id"]), self.now())
