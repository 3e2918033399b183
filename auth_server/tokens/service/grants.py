"""Grants: opened with a code, ended once and for everything that came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from auth_server.accounts.schemas import AccountChange, AccountChanged
from auth_server.audit.service import Audit
from auth_server.clients.schemas import OpenIdScope
from auth_server.sessions.schemas import SignedIn
from auth_server.settings import AuthSettings
from auth_server.tokens.models import Grant
from auth_server.tokens.repository import GrantRepository
from auth_server.tokens.schemas import CodePayload, RevokeReason, WantedGrant
from auth_server.tokens.store import CodeStores
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal, PrincipalKind

#: A client that lost the answer to a refresh asks again so soon; later it is somebody else.
GRACE = timedelta(seconds=10)
#: Longer than any session, so that every client of one can be told of its end.
_REMEMBERED = timedelta(days=60)
#: What somebody other than the application may have done.
_ALARMS = (RevokeReason.CODE_REPLAYED, RevokeReason.CODE_GUESSED, RevokeReason.REFRESH_REPLAYED)
_SHOWN_FOR = timedelta(days=14)
_REVOKED_BY_CHANGE = {
    AccountChange.DISABLED: RevokeReason.ACCOUNT_DISABLED,
    AccountChange.CREDENTIALS_RESET: RevokeReason.CREDENTIALS_RESET,
}


class Agreed(Protocol):
    """What a person agreed to."""

    @property
    def client_id(self) -> str:
        """For whom."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """To what."""


@dataclass(frozen=True, slots=True)
class GrantService:
    """Grants as one database session sees them."""

    grants: GrantRepository
    codes: CodeStores
    audit: Audit
    settings: AuthSettings
    now: Clock

    async def open(self, person: SignedIn, wanted: WantedGrant) -> str:
        """A fresh family; answers its authorization code, which only the client will see."""
        ident, at = new_uuid(), self.now()

        async def add_grant(code_digest: str) -> None:
            await self.add(ident, person, wanted, code_digest)

        payload = CodePayload(
            grant_id=ident,
            client_id=wanted.client_id,
            redirect_uri=wanted.redirect_uri,
            redirect_uri_named=wanted.redirect_uri_named,
            code_challenge=wanted.code_challenge,
            nonce=wanted.nonce,
            key_thumbprint=wanted.key_thumbprint,
            created_at=at,
            expires_at=at + self.settings.tokens.code_life,
        )
        return await self.codes.issue(payload, add_grant)

    async def add(self, ident: UUID, person: SignedIn, agreed: Agreed, code_digest: str) -> None:
        """Open a family whose code has this hash."""
        self.grants.add(self._grant(ident, person, agreed, code_digest))
        await self.grants.flush()
        after = {"client": agreed.client_id, "scopes": list(agreed.scopes)}
        self.audit.note(person.principal, "grant.opened", ("grant", str(ident)), after=after)

    async def list_live(self, account_id: UUID) -> Sequence[Grant]:
        """The person's families that are not over, newest first."""
        return await self.grants.list_live_of_account(account_id, self.now())

    async def list_alarms(self, account_id: UUID) -> Sequence[Grant]:
        """The person's families that ended because something of them was used twice or guessed at."""
        return await self.grants.list_ended_of_account(account_id, _ALARMS, self.now() - _SHOWN_FOR)

    async def revoke(self, ident: UUID, reason: RevokeReason) -> None:
        """End one family; nothing where it has ended already."""
        self._note(await self.grants.revoke_one(ident, self.now(), reason), reason)

    async def revoke_of_client(self, account_id: UUID, client_id: str) -> None:
        """End everything that this person gave this client, because the consent is withdrawn."""
        reason = RevokeReason.CONSENT_WITHDRAWN
        self._note(await self.grants.revoke_of_client(account_id, client_id, self.now(), reason), reason)

    async def revoke_with_client(self, client_id: str) -> None:
        """End everything that was given to a client that is shut out."""
        reason = RevokeReason.CLIENT_DISABLED
        self._note(await self.grants.revoke_with_client(client_id, self.now(), reason), reason)

    async def revoke_of_session(self, session_id: UUID) -> None:
        """End what hangs on a session that ended."""
        reason = RevokeReason.SESSION_ENDED
        self._note(await self.grants.revoke_of_session(session_id, self.now(), reason), reason)

    async def revoke_with_account(self, changed: AccountChanged) -> None:
        """End what an account's change ends."""
        reason = _REVOKED_BY_CHANGE.get(changed.change)
        if reason is not None:
            kept = changed.kept_session
            self._note(
                await self.grants.revoke_of_account(changed.account_id, kept, self.now(), reason), reason
            )

    async def revoke_with_scope(self, account_id: UUID, scope: str, reason: RevokeReason) -> None:
        """End those of the person's families that were given this scope."""
        for grant in await self.grants.list_live_of_account(account_id, self.now()):
            if scope in grant.scopes:
                await self.revoke(grant.id, reason)

    async def forget(self) -> None:
        """Delete what nobody can use and no replay can reach any more."""
        at = self.now()
        await self.codes.forget_before(at - timedelta(days=1))
        await self.grants.forget_answers_before(at - GRACE)
        await self.grants.forget_before(at - _REMEMBERED)

    def _note(self, revoked: Sequence[Grant], reason: RevokeReason) -> None:
        for grant in revoked:
            owner = Principal(id=str(grant.account_id), kind=PrincipalKind.PERSON, name="")
            after = {"reason": reason, "client": grant.client_id}
            self.audit.note(owner, "grant.revoked", ("grant", str(grant.id)), after=after)

    def _grant(self, ident: UUID, person: SignedIn, agreed: Agreed, code_digest: str) -> Grant:
        at = self.now()
        offline = OpenIdScope.OFFLINE_ACCESS in agreed.scopes
        return Grant(
            id=ident,
            account_id=person.account_id,
            client_id=agreed.client_id,
            session_id=person.session_id,
            scopes=list(agreed.scopes),
            offline=offline,
            auth_time=person.auth_time,
            amr=list(person.amr),
            created_at=at,
            expires_at=at + self._life(offline=offline),
            code_digest=code_digest,
            code_consumed_at=None,
            revoked_at=None,
            revoke_reason=None,
        )

    def _life(self, *, offline: bool) -> timedelta:
        lives = self.settings.tokens
        return lives.refresh_absolute if offline else lives.code_life + lives.access_token_life
