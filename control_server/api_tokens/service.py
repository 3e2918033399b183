"""Personal access tokens: minted once, kept as a hash, never more than their owner may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from control_server.api_tokens import rules
from control_server.api_tokens.errors import ApiTokenEnded, ApiTokenNotFound, ApiTokenRefused
from control_server.api_tokens.models import ApiToken
from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.schemas import ApiTokenCreate, ApiTokenCreated, ApiTokenRead
from control_server.api_tokens.store import TokenLimits
from control_server.audit.service import Audit
from shared.database import Database, DatabaseUnavailable
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from shared.kernel.secrets import BearerSecret, digest_of, identify, mint

log = structlog.get_logger(__name__)

#: The service principal of the `admin-token` file; its token is a personal access token like any other.
LOCAL_ADMIN = Principal.of_role("service:local-admin", PrincipalKind.SERVICE, "local-admin", Role.ADMIN)
_SHOWN = 500


@dataclass(frozen=True, slots=True)
class ApiTokenService:
    """Tokens as one session sees them."""

    tokens: ApiTokenRepository
    now: Clock

    async def authenticate(self, text: str) -> ApiToken:
        """The good token of this text. Raises ApiTokenRefused."""
        if identify(text, "rlp") is None:
            raise ApiTokenRefused("The access token is not well formed; it begins with `rlp_`.")
        token = await self.tokens.find_by_digest(digest_of(text))
        if token is None or token.revoked_at is not None:
            raise ApiTokenRefused
        if rules.state_of(None, token.expires_at, self.now()) == "expired":
            raise ApiTokenRefused("The access token has expired.")
        return token

    async def is_good(self, text: str) -> bool:
        """Whether this token would be let in."""
        try:
            await self.authenticate(text)
        except ApiTokenRefused:
            return False
        return True

    async def list_own(self, owner: Principal) -> Sequence[ApiTokenRead]:
        """The caller's newest tokens, without their secrets."""
        return [self._read(token) for token in await self.tokens.list_newest(owner.id, _SHOWN)]

    async def list_all(self) -> Sequence[ApiTokenRead]:
        """Everybody's newest tokens, without their secrets."""
        return [self._read(token) for token in await self.tokens.list_newest(None, _SHOWN)]

    async def create(self, owner: Principal, wanted: ApiTokenCreate, audit: Audit) -> ApiTokenCreated:
        """Mint a token. Raises InvalidInput for a scope that the caller does not have."""
        rules.check_scopes(owner, wanted.scopes)
        secret, scopes = mint("rlp"), sorted(set(wanted.scopes))
        token = self._new(owner, secret, wanted.name, scopes)
        token.expires_at = self.now() + timedelta(seconds=wanted.expires_in)
        self.tokens.add(token)
        after = {"name": token.name, "scopes": scopes, "expires_at": token.expires_at.isoformat()}
        audit.note(owner, "api_token.created", ("api_token", token.id), after=after)
        return ApiTokenCreated(token=secret.text, **self._read(token).model_dump())

    async def rotate(self, owner: Principal, ident: str, audit: Audit) -> ApiTokenCreated:
        """Replace a good token of the caller by one of the same name, scopes and length of life.

        The old one is useless from then on. Raises ApiTokenNotFound, ApiTokenEnded, or InvalidInput where it
        holds a scope that the caller has lost.
        """
        old = await self._end(ident, owner.id)
        rules.check_scopes(owner, [Scope(scope) for scope in old.scopes])
        secret = mint("rlp")
        token = self._new(owner, secret, old.name, list(old.scopes))
        token.expires_at = self._renewed(old)
        self.tokens.add(token)
        audit.note(
            owner,
            "api_token.rotated",
            ("api_token", old.id),
            before={"token_id": old.id},
            after={"token_id": token.id},
        )
        return ApiTokenCreated(token=secret.text, **self._read(token).model_dump())

    async def revoke(self, actor: Principal, ident: str, audit: Audit) -> None:
        """Make a token of the caller's own, or for an administrator anybody's, useless.

        Raises ApiTokenNotFound or ApiTokenEnded.
        """
        token = await self._end(ident, None if actor.may(Scope.ACCESS_ADMIN) else actor.id)
        before = {"name": token.name, "owner": token.owner_id}
        audit.note(actor, "api_token.revoked", ("api_token", token.id), before=before)

    async def replace(self, owner: Principal, name: str, audit: Audit) -> str:
        """Mint a token with all that the owner may, in place of older ones of this name."""
        secret = mint("rlp")
        await self.tokens.revoke_named(owner.id, name, self.now())
        self.tokens.add(self._new(owner, secret, name, sorted(owner.scopes)))
        audit.note(owner, "api_token.created", ("api_token", secret.id), after={"name": name})
        return secret.text

    async def _end(self, ident: str, owner_id: str | None) -> ApiToken:
        ended = await self.tokens.claim_end(ident, owner_id, self.now())
        if ended is not None:
            return ended
        if await self.tokens.find(ident, owner_id) is None:
            raise ApiTokenNotFound
        raise ApiTokenEnded

    def _renewed(self, old: ApiToken) -> datetime | None:
        return None if old.expires_at is None else self.now() + (old.expires_at - old.created_at)

    def _new(self, owner: Principal, secret: BearerSecret, name: str, scopes: Sequence[str]) -> ApiToken:
        return ApiToken(
            id=secret.id,
            name=name,
            owner_id=owner.id,
            owner_kind=owner.kind,
            owner_name=owner.name,
            role=owner.role or Role.VIEWER,
            scopes=list(scopes),
            digest=secret.digest,
            created_at=self.now(),
            expires_at=None,
            revoked_at=None,
            last_used_at=None,
        )

    def _read(self, token: ApiToken) -> ApiTokenRead:
        return ApiTokenRead(
            token_id=token.id,
            name=token.name,
            owner_id=token.owner_id,
            owner_name=token.owner_name,
            role=token.role,
            scopes=token.scopes,
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used_at=token.last_used_at,
            state=rules.state_of(token.revoked_at, token.expires_at, self.now()),
        )


@dataclass(frozen=True, slots=True)
class TokenGate:
    """Lets bearers in: within limits, known, good, and noted as used."""

    database: Database
    limits: TokenLimits
    now: Clock

    async def admit(self, text: str, address: str) -> Principal:
        """The token's owner, with the token's scopes.

        Raises ApiTokenRefused, ApiTokenThrottled or ApiTokenLockedOut. The store of the limits is never asked
        inside a session of the database, and its failure lets good tokens in.
        """
        source = rules.source_of(address)
        await self.limits.check_lockout(source)
        try:
            async with self.database.reading() as session:
                token = await ApiTokenService(ApiTokenRepository(session), self.now).authenticate(text)
        except ApiTokenRefused:
            await self.limits.count_failure(source)
            raise
        await self.limits.count_request(token.id)
        if await self.limits.use_is_due(token.id, token.last_used_at):
            await self._note_use(token.id)
        return _bearer_of(token)

    async def _note_use(self, token_id: str) -> None:
        try:
            async with self.database.transaction() as session:
                await ApiTokenRepository(session).touch(token_id, self.now())
        except DatabaseUnavailable:
            log.warning("api_token_use_not_noted", token_id=token_id)


def _bearer_of(token: ApiToken) -> Principal:
    """Who comes with this token; a scope that no longer exists gives nothing."""
    return Principal(
        id=token.owner_id,
        kind=PrincipalKind(token.owner_kind),
        name=token.owner_name,
        role=Role(token.role),
        scopes=frozenset(scope for scope in Scope if scope in token.scopes),
    )
