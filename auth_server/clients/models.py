"""Tables of clients and of what they may show once only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import false
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class Client(Base):
    """A registered program (RFC 7591 gives the words)."""

    __tablename__ = "clients"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    #: SHA-256 of the secret; None for a client without one.
    secret_digest: Mapped[str | None]
    #: JWKs by which the client signs its assertions (RFC 7523); such a client has no secret.
    public_keys: Mapped[list[Any] | None]
    native: Mapped[bool]
    first_party: Mapped[bool]
    redirect_uris: Mapped[list[str]]
    post_logout_redirect_uris: Mapped[list[str]]
    backchannel_logout_uri: Mapped[str | None]
    grant_types: Mapped[list[str]]
    scopes: Mapped[list[str]]
    origins: Mapped[list[str]]
    audiences: Mapped[list[str]]
    id_token_signed_response_alg: Mapped[str]
    #: What it may do on its own, by client credentials; None for nothing.
    role: Mapped[str | None]
    #: Whether its authorization requests must be pushed (RFC 9126, section 6).
    requires_pushed: Mapped[bool] = mapped_column(server_default=false())
    #: Whether its tokens must be bound to a key (RFC 9449, section 5.2).
    requires_dpop: Mapped[bool] = mapped_column(server_default=false())
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]

    @property
    def is_confidential(self) -> bool:
        """Whether it can keep a secret or a key, and therefore must always prove itself."""
        return self.secret_digest is not None or bool(self.public_keys)

    @property
    def asks_consent(self) -> bool:
        """Whether people are asked: a name alone proves nothing (RFC 8252, section 8.6)."""
        return not (self.first_party and self.is_confidential)


class UsedProof(Base):
    """A proof or assertion that was shown, until it is too old to be shown again."""

    __tablename__ = "used_proofs"

    digest: Mapped[str] = mapped_column(primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)
