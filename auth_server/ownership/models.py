"""Tables of challenges and proofs of maintainership."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class OwnershipChallenge(Base):
    """A text that was given out to be signed; good for one proof, in the session that asked for it."""

    __tablename__ = "ownership_challenges"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    session_id: Mapped[UUID]
    #: As the registry writes it.
    mntner: Mapped[str]
    #: The AS number that the person asked about.
    asn: Mapped[int | None]
    text: Mapped[str]
    #: The keys that the registry listed then, to say how to sign; what counts is read again at the proof.
    keys: Mapped[list[Any]]
    #: Each looks at one signature.
    attempts: Mapped[int]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]


class OwnershipProof(Base):
    """That a person proved to hold a maintainer's key, and what the registry said of it last."""

    __tablename__ = "ownership_proofs"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    mntner: Mapped[str]
    #: The registry's line that proved it; without it the proof ends.
    method: Mapped[str]
    key: Mapped[str]
    fingerprint: Mapped[str]
    #: The AS number that claims speak of, while the maintainer holds it.
    asn: Mapped[int | None]
    asns: Mapped[list[Any]]
    #: What clients are told (`asn`, `mntner`, `dn42`), as the registry said at `checked_at`.
    claims: Mapped[dict[str, Any]]
    #: Whether claims are those of this proof, where the person has several.
    active: Mapped[bool]
    proved_at: Mapped[datetime]
    checked_at: Mapped[datetime] = mapped_column(index=True)
    ended_at: Mapped[datetime | None]
    end_reason: Mapped[str | None]
