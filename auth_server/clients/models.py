"""Table of clients."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base


class Client(Base):
    """A registered program (RFC 7591 gives the words)."""

    __tablename__ = "clients"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    #: SHA-256 of the secret; None for a public client.
    secret_digest: Mapped[str | None]
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
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]

    @property
    def is_confidential(self) -> bool:
        """Whether it can keep a secret, and therefore must always show it."""
        return self.secret_digest is not None

    @property
    def asks_consent(self) -> bool:
        """Whether people are asked: a name alone proves nothing (RFC 8252, section 8.6)."""
        return not (self.first_party and self.is_confidential)
