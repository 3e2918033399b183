"""SQL of personal access tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.api_tokens.models import ApiToken


@dataclass(frozen=True, slots=True)
class ApiTokenRepository:
    """Tokens in one session."""

    session: AsyncSession

    async def find_by_digest(self, digest: str) -> ApiToken | None:
        """The token with this hash."""
        return await self.session.scalar(select(ApiToken).where(ApiToken.digest == digest))

    async def find(self, ident: str, owner_id: str | None) -> ApiToken | None:
        """The token with this id, of this owner or of anybody."""
        query = select(ApiToken).where(ApiToken.id == ident)
        return await self.session.scalar(query if owner_id is None else query.where(_of(owner_id)))

    async def list_newest(self, owner_id: str | None, limit: int) -> Sequence[ApiToken]:
        """Tokens of this owner or of everybody, newest first."""
        query = select(ApiToken).order_by(ApiToken.created_at.desc(), ApiToken.id).limit(limit)
        return (await self.session.scalars(query if owner_id is None else query.where(_of(owner_id)))).all()

    def add(self, token: ApiToken) -> None:
        """Store a new token."""
        self.session.add(token)

    async def claim_end(self, ident: str, owner_id: str | None, at: datetime) -> ApiToken | None:
        """Revoke a good token; None for every caller but one."""
        good = or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > at)
        statement = update(ApiToken).where(ApiToken.id == ident, ApiToken.revoked_at.is_(None), good)
        if owner_id is not None:
            statement = statement.where(_of(owner_id))
        return await self.session.scalar(statement.values(revoked_at=at).returning(ApiToken))

    async def revoke_named(self, owner_id: str, name: str, at: datetime) -> None:
        """Revoke the owner's tokens of this name."""
        await self.session.execute(
            update(ApiToken)
            .where(_of(owner_id), ApiToken.name == name, ApiToken.revoked_at.is_(None))
            .values(revoked_at=at)
        )

    async def touch(self, ident: str, at: datetime) -> None:
        """The token was used."""
        await self.session.execute(update(ApiToken).where(ApiToken.id == ident).values(last_used_at=at))


def _of(owner_id: str) -> ColumnElement[bool]:
    return ApiToken.owner_id == owner_id
