"""Accounts: made by invitation, never deleted, and never without an administrator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from auth_server.accounts import rules
from auth_server.accounts.errors import (
    AccountNameTaken,
    AccountNotFound,
    InvitationNotFound,
    InvitationRefused,
    LastAdministrator,
)
from auth_server.accounts.models import Account, Invitation
from auth_server.accounts.repository import AccountRepository
from auth_server.accounts.schemas import (
    AccountChange,
    AccountChanged,
    AccountListener,
    AccountUpdate,
    NewAccount,
)
from auth_server.audit.service import Audit
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.secrets import digest_of, identify, mint

INVITATION_PREFIX = "rli"


def principal_of(account: Account) -> Principal:
    """The person as the actor of what they do."""
    return Principal.of_role(str(account.id), PrincipalKind.PERSON, account.name, Role(account.role))


@dataclass(frozen=True, slots=True)
class AccountService:
    """Accounts and invitations as one database session sees them."""

    accounts: AccountRepository
    audit: Audit
    now: Clock
    public_url: str
    invitation_life: timedelta = timedelta(hours=24)
    #: Told of every change that ends what was derived from an account.
    listeners: Sequence[AccountListener] = field(default=())

    async def find(self, ident: UUID) -> Account | None:
        """The account, also when it is disabled."""
        return await self.accounts.find(ident)

    async def get(self, ident: UUID) -> Account:
        """The account, also when it is disabled. Raises AccountNotFound."""
        account = await self.accounts.find(ident)
        if account is None:
            raise AccountNotFound
        return account

    async def find_named(self, name: str) -> Account | None:
        """The account of a login name as somebody typed it."""
        folded = rules.fold_name(name)
        return await self.accounts.find_named(folded) if folded else None

    async def list(self) -> Sequence[Account]:
        """Every account, by name."""
        return await self.accounts.list_all()

    async def has_administrator(self) -> bool:
        """Whether somebody can administer."""
        return any(account.is_administrator for account in await self.accounts.list_all())

    async def lock(self, ident: UUID) -> Account:
        """The account, held until the transaction ends. Raises AccountNotFound."""
        account = await self.accounts.find_locked(ident)
        if account is None:
            raise AccountNotFound
        return account

    def invite(self, who: Principal, role: Role, note: str = "") -> tuple[Invitation, str]:
        """A fresh invitation and its secret, which is shown once."""
        secret = mint(INVITATION_PREFIX)
        at = self.now()
        invitation = Invitation(
            id=secret.id,
            digest=secret.digest,
            role=role,
            note=note,
            created_by=who.name,
            created_at=at,
            expires_at=at + self.invitation_life,
            consumed_at=None,
            revoked_at=None,
            account_id=None,
        )
        self.accounts.add_invitation(invitation)
        self.audit.note(who, "invitation.created", ("invitation", secret.id), after={"role": role})
        return invitation, secret.text

    def link_of(self, secret: str) -> str:
        """Where an invitation's secret is accepted."""
        return f"{self.public_url}/auth/invitations/{secret}"

    async def list_invitations(self) -> Sequence[Invitation]:
        """Those that can still be accepted."""
        return await self.accounts.list_open_invitations(self.now())

    async def withdraw(self, who: Principal, ident: str) -> None:
        """Make an invitation worthless. Raises InvitationNotFound."""
        if await self.accounts.claim_withdrawal(ident, self.now()) is None:
            raise InvitationNotFound
        self.audit.note(who, "invitation.withdrawn", ("invitation", ident))

    async def get_invitation(self, secret: str) -> Invitation:
        """The open invitation of this secret, not spent by looking. Raises InvitationRefused."""
        found = await self.accounts.find_open_invitation(digest_of(secret), self.now())
        if found is None:
            raise InvitationRefused
        return found

    async def accept(self, secret: str, ident: UUID, wanted: NewAccount) -> Account:
        """Spend the invitation on an account. Raises InvitationRefused or AccountNameTaken."""
        invitation = await self.accounts.claim_invitation(digest_of(secret), self.now())
        if invitation is None:
            actor = Principal(id="anonymous", kind=PrincipalKind.PERSON, name=wanted.name)
            about = ("invitation", identify(secret, INVITATION_PREFIX) or "unknown")
            self.audit.note(actor, "invitation.refused", about)
            raise InvitationRefused
        account = Account(
            id=ident,
            name=wanted.name,
            display_name=wanted.display_name,
            role=invitation.role,
            created_at=self.now(),
            disabled_at=None,
        )
        if not await self.accounts.claim_name(account):
            taken = FieldError("name", AccountNameTaken.code, "Somebody else has this name.")
            raise AccountNameTaken(fields=[taken])
        invitation.account_id = account.id
        about = ("account", str(account.id))
        after = {"name": account.name, "role": account.role, "invitation": invitation.id}
        self.audit.note(principal_of(account), "account.created", about, after=after)
        return await self.get(account.id)

    async def change(self, who: Principal, ident: UUID, wanted: AccountUpdate) -> Account:
        """Whatever of this is wanted. Raises AccountNotFound or LastAdministrator."""
        if wanted.role is not None:
            await self.change_role(who, ident, wanted.role)
        if wanted.disabled is not None:
            await (self.disable if wanted.disabled else self.enable)(who, ident)
        return await self.get(ident)

    async def change_role(self, who: Principal, ident: UUID, role: Role) -> Account:
        """Give the account another role. Raises AccountNotFound or LastAdministrator."""
        administrators = await self.accounts.lock_administrators()
        account = await self.lock(ident)
        if account.role == role:
            return account
        if role is not Role.ADMIN:
            _keep_an_administrator(administrators, account)
        before, account.role = account.role, role
        about = ("account", str(ident))
        self.audit.note(who, "account.role_changed", about, before={"role": before}, after={"role": role})
        await self._tell(ident, AccountChange.ROLE_CHANGED)
        return account

    async def disable(self, who: Principal, ident: UUID) -> Account:
        """Shut the account out, everywhere and at once. Raises AccountNotFound or LastAdministrator."""
        administrators = await self.accounts.lock_administrators()
        account = await self.lock(ident)
        if account.disabled_at is not None:
            return account
        _keep_an_administrator(administrators, account)
        account.disabled_at = self.now()
        self.audit.note(who, "account.disabled", ("account", str(ident)))
        await self._tell(ident, AccountChange.DISABLED)
        return account

    async def enable(self, who: Principal, ident: UUID) -> Account:
        """Let the account in again; nothing that was ended comes back. Raises AccountNotFound."""
        account = await self.lock(ident)
        if account.disabled_at is not None:
            account.disabled_at = None
            self.audit.note(who, "account.enabled", ("account", str(ident)))
            await self._tell(ident, AccountChange.ENABLED)
        return account

    async def reset_credentials(self, ident: UUID, kept_session: UUID | None = None) -> None:
        """Tell everybody that a way to sign in to this account is gone or used up."""
        await self._tell(ident, AccountChange.CREDENTIALS_RESET, kept_session)

    async def _tell(self, ident: UUID, change: AccountChange, kept_session: UUID | None = None) -> None:
        for listener in self.listeners:
            await listener(AccountChanged(ident, change, kept_session))


def new_account_id() -> UUID:
    """The id that an account will have; random, so it also serves as WebAuthn's `user.id`."""
    return new_uuid()


def _keep_an_administrator(administrators: Sequence[UUID], leaving: Account) -> None:
    if leaving.is_administrator and all(other == leaving.id for other in administrators):
        raise LastAdministrator
