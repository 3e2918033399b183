"""Tables of accounts and invitations."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base
from shared.kernel.principal import Role


class Account(Base):
    """A person. Never deleted, so that `sub` and the audit trail keep their meaning; disabled instead."""

    __tablename__ = "accounts"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    #: The login name, case-folded.
    name: Mapped[str] = mapped_column(unique=True)
    display_name: Mapped[str]
    role: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]

    @property
    def is_administrator(self) -> bool:
        """Whether this account keeps the system in somebody's hands."""
        return self.role == Role.ADMIN and self.disabled_at is None


class Invitation(Base):
    """A link that makes one account: only its hash."""

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    #: Whom it is meant for, in the inviter's own words.
    note: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    consumed_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    #: The account it made.
    account_id: Mapped[UUID | None] = mapped_column(ForeignKey("accounts.id"))
