"""Table of signing keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from auth_server.tables import Base

_ONE_OF_EACH = text("stage <> 'previous'")


class SigningKey(Base):
    """A key pair. The private half is sealed by the key file of the installation."""

    __tablename__ = "signing_keys"
    __table_args__ = (
        # One next and one current key an algorithm, whoever makes or rotates them at the same time.
        Index(
            "uq_signing_keys_stage",
            "algorithm",
            "stage",
            unique=True,
            sqlite_where=_ONE_OF_EACH,
            postgresql_where=_ONE_OF_EACH,
        ),
    )

    #: Its RFC 7638 thumbprint.
    kid: Mapped[str] = mapped_column(primary_key=True)
    algorithm: Mapped[str]
    stage: Mapped[str]
    public_jwk: Mapped[dict[str, Any]]
    sealed_private_jwk: Mapped[str]
    created_at: Mapped[datetime]
    retired_at: Mapped[datetime | None]
