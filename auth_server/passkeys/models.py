"""Tables of passkeys, ceremonies and recovery codes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class Passkey(Base):
    """A public key credential of a person."""

    __tablename__ = "passkeys"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    #: As the authenticator names it; nobody else's may have the same.
    credential_id: Mapped[bytes] = mapped_column(unique=True)
    public_key: Mapped[bytes]
    sign_count: Mapped[int]
    backup_eligible: Mapped[bool]
    backed_up: Mapped[bool]
    transports: Mapped[list[str]]
    aaguid: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class WebauthnCeremony(Base):
    """A challenge that was given out; the row is deleted by whoever takes it, once."""

    __tablename__ = "webauthn_ceremonies"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    #: Hash of what identifies the browser it was given to.
    browser: Mapped[str]
    challenge: Mapped[bytes]
    subject: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class RecoveryCode(Base):
    """A code to sign in with once when no passkey is at hand; only its argon2 hash."""

    __tablename__ = "recovery_codes"
    __table_args__ = (UniqueConstraint("account_id", "selector"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    #: The first part of the code, which finds the row; it is no secret.
    selector: Mapped[str]
    hash: Mapped[str]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
