"""Tables of grants and of what hangs on them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class Grant(Base):
    """One person's agreement with one client, and the family of all that came of it.

    Every validation of a code, access token or refresh token reads this row; revoking is one update.
    """

    __tablename__ = "grants"

    #: Chosen before the code exists.
    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("accounts.id"), index=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"), index=True)
    #: The browser session it was given in; that row may be gone already.
    session_id: Mapped[UUID] = mapped_column(index=True)
    scopes: Mapped[list[str]]
    #: Whether it outlives the session.
    offline: Mapped[bool]
    #: The real sign-in, copied into every ID token of the family.
    auth_time: Mapped[datetime]
    amr: Mapped[list[str]]
    created_at: Mapped[datetime]
    #: The last instant of any token of the family.
    expires_at: Mapped[datetime] = mapped_column(index=True)
    #: Outlives the code itself, so that a replay is recognised for as long as there is something to revoke.
    code_digest: Mapped[str] = mapped_column(unique=True)
    code_consumed_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    revoke_reason: Mapped[str | None]


class OauthCode(Base):
    """An authorization code: only its hash. Consumed, it is its own tombstone."""

    __tablename__ = "oauth_codes"

    digest: Mapped[str] = mapped_column(primary_key=True)
    grant_id: Mapped[UUID] = mapped_column(ForeignKey("grants.id"), index=True)
    client_id: Mapped[str]
    redirect_uri: Mapped[str]
    #: Whether the authorization request named it; then the token request must too.
    redirect_uri_named: Mapped[bool]
    code_challenge: Mapped[str]
    nonce: Mapped[str | None]
    #: The key that must prove itself at the redemption (RFC 9449, section 10).
    key_thumbprint: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]
    #: Wrong verifiers so far.
    failures: Mapped[int]


class RefreshToken(Base):
    """A refresh token: only its hash. Each is used once and leaves one successor."""

    __tablename__ = "refresh_tokens"

    digest: Mapped[str] = mapped_column(primary_key=True)
    grant_id: Mapped[UUID] = mapped_column(ForeignKey("grants.id"), index=True)
    parent_digest: Mapped[str | None] = mapped_column(unique=True)
    #: The key that a client without a secret must prove itself by (RFC 9449, section 5).
    key_thumbprint: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    consumed_at: Mapped[datetime | None]
    #: The answer that its use gave, sealed, for a client that lost it on the way.
    sealed_answer: Mapped[str | None]


class EndedToken(Base):
    """An access token of a service that ended before its time; other tokens end with their family."""

    __tablename__ = "ended_tokens"

    jti: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class BackchannelLogout(Base):
    """A client that is still to be told of the end of a session; deleted once it knows."""

    __tablename__ = "backchannel_logouts"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    account_id: Mapped[UUID]
    session_id: Mapped[UUID]
    created_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(index=True)
    attempts: Mapped[int]
