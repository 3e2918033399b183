"""Sign-in sessions: begun by a proof, renewed by another one, ended once and told to everybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from auth_server.accounts.models import Account
from auth_server.accounts.schemas import AccountChange, AccountChanged
from auth_server.accounts.service import principal_of
from auth_server.audit.service import Audit
from auth_server.sessions.errors import SessionNotFound
from auth_server.sessions.models import BrowserSession
from auth_server.sessions.repository import SessionRepository
from auth_server.sessions.rules import device_name
from auth_server.sessions.schemas import Browser, EndReason, SessionEnded, SessionEndListener, SignedIn
from auth_server.sessions.store import LastUses
from auth_server.settings import SignInSettings
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.secrets import BearerSecret, digest_of, mint

#: Methods (RFC 8176) of a passkey with user verification, and of a recovery code.
PASSKEY = ("pop", "user", "mfa")
RECOVERY_CODE = ("otp",)
_PREFIX = "rls"
_ENDED_BY_CHANGE = {
    AccountChange.DISABLED: EndReason.ACCOUNT_DISABLED,
    AccountChange.CREDENTIALS_RESET: EndReason.CREDENTIALS_RESET,
}


@dataclass(frozen=True, slots=True)
class SessionService:
    """Sessions as one database session sees them."""

    sessions: SessionRepository
    audit: Audit
    settings: SignInSettings
    now: Clock
    last_uses: LastUses = field(default_factory=LastUses)
    #: Told of every session that ends before its time.
    listeners: Sequence[SessionEndListener] = ()

    async def begin(self, account: Account, amr: Sequence[str], browser: Browser) -> str:
        """Begin a session that is proved now; answers the secret for the cookie."""
        secret = mint(_PREFIX)
        at = self.now()
        row = BrowserSession(
            id=new_uuid(),
            account_id=account.id,
            device=device_name(browser.user_agent),
            user_agent=browser.user_agent[:300],
            from_address=browser.address,
            created_at=at,
            ended_at=None,
            end_reason=None,
            **self._proof(secret, amr, at),
        )
        self.sessions.add(row)
        about = ("session", str(row.id))
        self.audit.note(principal_of(account), "session.began", about, after={"amr": list(amr)})
        return secret.text

    async def sign_in(
        self, account: Account, amr: Sequence[str], browser: Browser, cookie: str | None
    ) -> str:
        """Begin a session, or renew this browser's own if it is the same person's; answers the cookie.

        Somebody else's session in the same browser ends.
        """
        found = await self.sessions.find_live(digest_of(cookie), self.now()) if cookie else None
        if found is None:
            return await self.begin(account, amr, browser)
        row, owner = found
        if owner.id == account.id:
            secret = mint(_PREFIX)
            if await self.sessions.claim_renewal(row.id, self.now(), self._proof(secret, amr, self.now())):
                about = ("session", str(row.id))
                self.audit.note(principal_of(account), "session.renewed", about, after={"amr": list(amr)})
                return secret.text
        else:
            await self.end(row.id, EndReason.REPLACED)
        return await self.begin(account, amr, browser)

    async def step_up(self, signed_in: SignedIn) -> str:
        """A passkey was used again in this session; answers its new cookie. Raises SessionNotFound."""
        secret = mint(_PREFIX)
        values = {"digest": secret.digest, "stepped_up_at": self.now()}
        if not await self.sessions.claim_renewal(signed_in.session_id, self.now(), values):
            raise SessionNotFound
        self.audit.note(signed_in.principal, "session.stepped_up", ("session", str(signed_in.session_id)))
        return secret.text

    async def find(self, cookie: str) -> SignedIn | None:
        """Whose browser this is; None when the session is over or the account is disabled."""
        found = await self.sessions.find_live(digest_of(cookie), self.now())
        if found is None:
            return None
        row, account = found
        if self.now() - self.last_uses.latest(row.id, row.last_used_at) > self.settings.session_idle:
            return None
        self.last_uses.note(row.id, self.now())
        return SignedIn(
            session_id=row.id,
            account_id=account.id,
            name=account.name,
            display_name=account.display_name,
            role=Role(account.role),
            auth_time=row.auth_time,
            amr=tuple(row.amr),
            stepped_up_at=row.stepped_up_at,
        )

    async def list(self, account_id: UUID) -> Sequence[BrowserSession]:
        """The account's sessions that are not over, last used first."""
        rows = await self.sessions.list_live(account_id, self.now())
        return [row for row in rows if self.now() - self._last_use(row) <= self.settings.session_idle]

    def in_use(self, session_id: UUID, last_used_at: datetime | None) -> bool:
        """Whether a session that SQL holds to be alive is not idle either; None for one that is over."""
        if last_used_at is None:
            return False
        latest = self.last_uses.latest(session_id, last_used_at)
        return self.now() - latest <= self.settings.session_idle

    async def end(
        self, session_id: UUID, reason: EndReason = EndReason.SIGNED_OUT, by: Principal | None = None
    ) -> None:
        """End one session; nothing where it has ended already. `by` is its owner where it is not said."""
        row = await self.sessions.claim_end(session_id, self.now(), reason)
        await self._tell([row] if row else [], reason, by)

    async def end_of(self, owner: UUID, session_id: UUID, reason: EndReason, by: Principal) -> None:
        """End one session of this account. Raises SessionNotFound for anybody else's."""
        if all(row.id != session_id for row in await self.sessions.list_live(owner, self.now())):
            raise SessionNotFound
        await self.end(session_id, reason, by)

    async def end_all(
        self,
        account_id: UUID,
        except_: UUID | None = None,
        reason: EndReason = EndReason.ENDED_BY_OWNER,
        by: Principal | None = None,
    ) -> None:
        """End every session of the account, save the one that is named."""
        rows = await self.sessions.end_all(account_id, except_, self.now(), reason)
        await self._tell(rows, reason, by)

    async def end_with_account(self, changed: AccountChanged) -> None:
        """End what an account's change ends: all its sessions, or all but the one it was done in."""
        reason = _ENDED_BY_CHANGE.get(changed.change)
        if reason is not None:
            await self.end_all(changed.account_id, changed.kept_session, reason)

    async def _tell(self, rows: Iterable[BrowserSession], reason: EndReason, by: Principal | None) -> None:
        for row in rows:
            actor = by or Principal(id=str(row.account_id), kind=PrincipalKind.PERSON, name="")
            self.audit.note(actor, "session.ended", ("session", str(row.id)), after={"reason": reason})
            for listener in self.listeners:
                await listener(SessionEnded(row.id, row.account_id, reason))

    def _last_use(self, row: BrowserSession) -> datetime:
        return self.last_uses.latest(row.id, row.last_used_at)

    def _proof(self, secret: BearerSecret, amr: Sequence[str], at: datetime) -> dict[str, object]:
        """What every sign-in sets anew."""
        return {
            "digest": secret.digest,
            "auth_time": at,
            "amr": list(amr),
            "stepped_up_at": at if "user" in amr else None,
            "last_used_at": at,
            "expires_at": at + self.settings.session_absolute,
        }
