"""Personal access tokens: minted once, kept as a hash, never more than their owner may."""

from __future__ import annotations

from dataclasses import dataclass

from control_server.api_tokens.errors import ApiTokenRefused
from control_server.api_tokens.models import ApiToken
from control_server.api_tokens.repository import ApiTokenRepository
from control_server.audit.service import Audit
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from shared.kernel.secrets import digest_of, identify, mint

#: The service principal of the `admin-token` file; its token is a personal access token like any other.
LOCAL_ADMIN = Principal.of_role("service:local-admin", PrincipalKind.SERVICE, "local-admin", Role.ADMIN)


@dataclass(frozen=True, slots=True)
class ApiTokenService:
    """Tokens as one session sees them."""

    tokens: ApiTokenRepository
    now: Clock

    async def authenticate(self, text: str) -> Principal:
        """The owner with the token's scopes. Raises ApiTokenRefused."""
        if identify(text, "rlp") is None:
            raise ApiTokenRefused("The access token is not well formed; it begins with `rlp_`.")
        token = await self.tokens.find_by_digest(digest_of(text))
        if token is None or token.revoked_at is not None:
            raise ApiTokenRefused
        if token.expires_at is not None and token.expires_at <= self.now():
            raise ApiTokenRefused("The access token has expired.")
        return Principal(
            id=token.owner_id,
            kind=PrincipalKind(token.owner_kind),
            name=token.owner_name,
            role=Role(token.role),
            scopes=frozenset(Scope(scope) for scope in token.scopes),
        )

    async def is_good(self, text: str) -> bool:
        """Whether this token would be let in."""
        try:
            await self.authenticate(text)
        except ApiTokenRefused:
            return False
        return True

    async def replace(self, owner: Principal, name: str, audit: Audit) -> str:
        """Mint a token with all that the owner may, in place of older ones of this name."""
        secret = mint("rlp")
        await self.tokens.revoke_named(owner.id, name, self.now())
        self.tokens.add(
            ApiToken(
                id=secret.id,
                name=name,
                owner_id=owner.id,
                owner_kind=owner.kind,
                owner_name=owner.name,
                role=owner.role or Role.VIEWER,
                scopes=sorted(owner.scopes),
                digest=secret.digest,
                created_at=self.now(),
                expires_at=None,
                revoked_at=None,
                last_used_at=None,
            )
        )
        audit.note(owner, "api_token.created", ("api_token", secret.id), after={"name": name})
        return secret.text
