"""Tables of one-time links, sign-ins on their way, portal sessions and logout tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from control_server.tables import Base


class SessionLink(Base):
    """A link, made on the host itself, that signs its opener in once: only its hash."""

    __tablename__ = "session_links"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    consumed_at: Mapped[datetime | None]


class PortalLogin(Base):
    """A browser that was sent to sign in and has not come back yet."""

    __tablename__ = "portal_login_transactions"

    #: SHA-256 of the `state`; the browser carries the state itself.
    digest: Mapped[str] = mapped_column(primary_key=True)
    #: SHA-256 of the cookie that ties it to one browser.
    browser: Mapped[str]
    purpose: Mapped[str]
    nonce: Mapped[str]
    verifier: Mapped[str]
    next_page: Mapped[str]
    #: The session that steps up; None where a new one begins.
    session_id: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class PortalSession(Base):
    """A signed-in browser. The cookie holds the secret, this row its hash."""

    __tablename__ = "portal_sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    principal_id: Mapped[str] = mapped_column(index=True)
    principal_kind: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    #: How the person proved who they are: `link` for a one-time link, `oidc` for the sign-in service.
    method: Mapped[str]
    user_agent: Mapped[str]
    from_address: Mapped[str]
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    #: When the person last proved who they are; sensitive acts ask for a recent proof.
    stepped_up_at: Mapped[datetime | None]
    #: The account, the session and the grant of the sign-in service that this one hangs on.
    sub: Mapped[str | None] = mapped_column(index=True)
    sid: Mapped[str | None] = mapped_column(index=True)
    grant_id: Mapped[str | None]
    #: The last ID token, which names the session when the person signs out there too.
    id_token: Mapped[str | None]


class LogoutToken(Base):
    """A logout token that was obeyed; its `jti` is good once."""

    __tablename__ = "portal_logout_tokens"

    jti: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)
