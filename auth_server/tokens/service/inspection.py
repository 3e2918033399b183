"""What a token is good for: userinfo, introspection (RFC 7662), revocation (RFC 7009)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from auth_server.accounts.models import Account
from auth_server.clients.errors import InvalidClient
from auth_server.clients.models import Client
from auth_server.clients.schemas import OpenIdScope
from auth_server.clients.service import ClientService
from auth_server.signing_keys.service import KeyRing
from auth_server.tokens import rules
from auth_server.tokens.errors import InsufficientScope, InvalidToken
from auth_server.tokens.repository import EndedTokenRepository, RefreshTokenRepository
from auth_server.tokens.schemas import Answer, LiveAccount, Presented, RevokeReason
from auth_server.tokens.service.grants import GrantService
from auth_server.tokens.service.minting import ACCESS_TOKEN, Minter
from shared.kernel.clock import Clock
from shared.kernel.principal import Role
from shared.kernel.secrets import digest_of

_INACTIVE: Answer = {"active": False}
_SHOWN = ("sub", "client_id", "aud", "iss", "iat", "exp", "jti", "grant_id", "auth_time", "cnf")


class Standing(NamedTuple):
    """Who stands behind a token, as of now."""

    name: str
    role: Role
    #: None for a client that acts on its own.
    account: LiveAccount | None


@dataclass(frozen=True, slots=True)
class InspectionService:
    """Reads tokens against their families; no answer is older than this transaction."""

    families: GrantService
    refresh_tokens: RefreshTokenRepository
    ended: EndedTokenRepository
    clients: ClientService
    minter: Minter
    keys: KeyRing
    now: Clock

    async def userinfo(self, shown: Presented) -> dict[str, Any]:
        """What the token's scopes tell of the person. Raises InvalidToken or InsufficientScope."""
        claims = await self._claims(shown.token)
        standing = await self._standing(claims) if claims else None
        if claims is None or standing is None or self.minter.issuer not in claims["aud"]:
            raise InvalidToken
        if rules.key_of(claims) != shown.key_thumbprint:
            raise InvalidToken("The token and the key that came with it do not belong together.")
        scopes = str(claims["scope"]).split()
        if OpenIdScope.OPENID not in scopes or standing.account is None:
            raise InsufficientScope
        account = standing.account
        network = await self.minter.network_claims(account.id, scopes)
        return {**rules.claims_of(account, scopes), **network}

    async def introspect(self, client: Client, token: str) -> Answer:
        """The state of a token of the client's own or for its audience; for every other only "inactive"."""
        if not client.is_confidential:
            raise InvalidClient
        claims = await self._claims(token)
        if claims is None:
            return await self._introspect_refresh(client, token)
        concerns = claims["client_id"] == client.id or not set(client.audiences).isdisjoint(claims["aud"])
        standing = await self._standing(claims) if concerns else None
        if standing is None:
            return dict(_INACTIVE)
        scopes = rules.scopes_for(standing.role, str(claims["scope"]).split())
        return {
            "active": True,
            "token_type": "DPoP" if rules.key_of(claims) else "Bearer",
            "scope": " ".join(scopes),
            "username": standing.name,
            "role": standing.role,
            **{name: claims[name] for name in _SHOWN if name in claims},
        }

    async def standing(self, client: Client, subject: str) -> Answer:
        """Whether the account is enabled, and its role of now; told to our own services only."""
        if not (client.is_confidential and client.first_party):
            raise InvalidClient
        account = await self._find_account(subject)
        if account is None:
            return dict(_INACTIVE)
        return {"active": True, "sub": str(account.id), "username": account.name, "role": account.role}

    async def _find_account(self, subject: str) -> Account | None:
        try:
            ident = UUID(subject)
        except ValueError:
            return None
        return await self.families.grants.find_enabled_account(ident)

    async def revoke(self, client: Client, token: str) -> None:
        """End the family of the client's own token, access or refresh; nothing for every other text."""
        claims = await self._claims(token)
        if claims is None:
            row = await self.refresh_tokens.find(digest_of(token))
            if row is not None:
                await self._revoke_family(client, row.grant_id)
        elif "grant_id" in claims:
            await self._revoke_family(client, UUID(claims["grant_id"]))
        elif claims["client_id"] == client.id:
            await self.ended.add(claims["jti"], datetime.fromtimestamp(claims["exp"], UTC))

    async def _revoke_family(self, client: Client, grant_id: UUID) -> None:
        family = await self.families.grants.find_live(grant_id, self.now())
        if family is not None and family.grant.client_id == client.id:
            await self.families.revoke(grant_id, RevokeReason.REVOKED_BY_CLIENT)

    async def _introspect_refresh(self, client: Client, token: str) -> Answer:
        row = await self.refresh_tokens.find(digest_of(token))
        if row is None or row.consumed_at is not None or row.expires_at <= self.now():
            return dict(_INACTIVE)
        family = await self.families.grants.find_live(row.grant_id, self.now())
        if family is None or family.grant.client_id != client.id:
            return dict(_INACTIVE)
        grant, account = family.grant, family.account
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
        claims = await self.keys.verify(token, ACCESS_TOKEN)
        if claims is None or claims["iss"] != self.minter.issuer:
            return None
        return claims if claims["exp"] > self.now().timestamp() else None

    async def _standing(self, claims: dict[str, Any]) -> Standing | None:
        if "grant_id" not in claims:
            return await self._standing_of_service(claims)
        family = await self.families.grants.find_live(UUID(claims["grant_id"]), self.now())
        if family is None:
            return None
        account = family.account
        return Standing(account.name, Role(account.role), account)

    async def _standing_of_service(self, claims: dict[str, Any]) -> Standing | None:
        """A service is good while it is registered for what it does, save for tokens that it ended."""
        client = await self.clients.find_known(claims["client_id"])
        if client is None or client.role is None or await self.ended.has(claims["jti"]):
            return None
        return Standing(client.name, Role(client.role), None)

    async def forget(self) -> None:
        """Drop what has expired anyhow."""
        await self.ended.forget_before(self.now())
