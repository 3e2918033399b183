"""SQL of accounts and invitations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.models import Account, Invitation
from shared.kernel.principal import Role


@dataclass(frozen=True, slots=True)
class AccountRepository:
    """Accounts and invitations in one session of the database."""

    session: AsyncSession

    async def find(self, ident: UUID) -> Account | None:
        """The account of this id."""
        return await self.session.get(Account, ident)

    async def find_named(self, name: str) -> Account | None:
        """The account of this case-folded name."""
        return await self.session.scalar(select(Account).where(Account.name == name))

    async def find_locked(self, ident: UUID) -> Account | None:
        """The account, which no other transaction changes before this one ends."""
        query = select(Account).where(Account.id == ident).with_for_update()
        return await self.session.scalar(query.execution_options(populate_existing=True))

    async def list_all(self) -> Sequence[Account]:
        """Every account, by name."""
        return (await self.session.scalars(select(Account).order_by(Account.name))).all()

    async def lock_administrators(self) -> Sequence[UUID]:
        """The ids of those who can administer; nobody else shrinks the set before this transaction ends."""
        query = (
            select(Account.id)
            .where(Account.role == Role.ADMIN, Account.disabled_at.is_(None))
            .order_by(Account.id)
            .with_for_update()
        )
        return (await self.session.scalars(query)).all()

    async def claim_name(self, account: Account) -> bool:
        """Store a new account; False where the name is taken, also by a transaction at the same time."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        values = {
            "id": account.id,
            "name": account.name,
            "display_name": account.display_name,
            "role": account.role,
            "created_at": account.created_at,
            "disabled_at": account.disabled_at,
        }
        statement = insert(Account).values(values).on_conflict_do_nothing(index_elements=[Account.name])
        return await self.session.scalar(statement.returning(Account.id)) is not None

    def add_invitation(self, invitation: Invitation) -> None:
        """Store a new invitation."""
        self.session.add(invitation)

    async def find_open_invitation(self, digest: str, at: datetime) -> Invitation | None:
        """The invitation with this hash, if it can still be accepted."""
        return await self.session.scalar(select(Invitation).where(Invitation.digest == digest, *_open(at)))

    async def list_open_invitations(self, at: datetime) -> Sequence[Invitation]:
        """Those that can still be accepted, newest first."""
        query = select(Invitation).where(*_open(at)).order_by(Invitation.created_at.desc())
        return (await self.session.scalars(query)).all()

    async def claim_invitation(self, digest: str, at: datetime) -> Invitation | None:
        """Spend an invitation; None for every caller but one."""
        return await self.session.scalar(
            update(Invitation)
            .where(Invitation.digest == digest, *_open(at))
            .values(consumed_at=at)
            .returning(Invitation)
        )

    async def claim_withdrawal(self, ident: str, at: datetime) -> Invitation | None:
        """Withdraw an open invitation; None when there was none."""
        return await self.session.scalar(
            update(Invitation)
            .where(Invitation.id == ident, *_open(at))
            .values(revoked_at=at)
            .returning(Invitation)
        )


def _open(at: datetime) -> tuple[ColumnElement[bool], ...]:
    return (Invitation.consumed_at.is_(None), Invitation.revoked_at.is_(None), Invitation.expires_at >= at)
