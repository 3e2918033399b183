"""SQL of personal access tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.api_tokens.models import ApiToken


@dataclass(frozen=True, slots=True)
class ApiTokenRepository:
    """Tokens in one session."""

    session: AsyncSession

    async def find_by_digest(self, digest: str) -> ApiToken | None:
        """The token with this hash."""
        return await self.session.scalar(select(ApiToken).where(ApiToken.digest == digest))

    def add(self, token: ApiToken) -> None:
        """Store a new token."""
        self.session.add(token)

    async def revoke_named(self, owner_id: str, name: str, at: datetime) -> None:
        """Revoke the owner's tokens of this name."""
        await self.session.execute(
            update(ApiToken)
            .where(ApiToken.owner_id == owner_id, ApiToken.name == name, ApiToken.revoked_at.is_(None))
            .values(revoked_at=at)
        )
