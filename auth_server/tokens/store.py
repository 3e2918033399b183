"""Where authorization codes are. A code carries its store's tag and is looked up there only.

So a tier that comes and goes can never let one code be spent once in each store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.tokens.models import OauthCode
from auth_server.tokens.schemas import CodePayload, StoredCode


class CodeStore(Protocol):
    """Keeps codes by their hash. Taking one leaves a tombstone in the same step."""

    @property
    def tag(self) -> str:
        """The character by which codes name this store."""

    async def put(self, digest: str, payload: CodePayload) -> None:
        """Keep a fresh code."""

    async def find(self, digest: str) -> StoredCode | None:
        """The code or its tombstone; expiry is the caller's to judge."""

    async def take(self, digest: str, at: datetime) -> bool:
        """Spend the code; False for every caller but one."""

    async def note_failure(self, digest: str) -> int:
        """Count a wrong verifier; answers how many there were."""

    async def forget_before(self, at: datetime) -> None:
        """Drop codes and tombstones that expired before this instant; grants remember the hashes."""


@dataclass(frozen=True, slots=True)
class SqlCodeStore:
    """Codes in `oauth_codes`, inside the caller's transaction."""

    session: AsyncSession
    tag: str = "s"

    async def put(self, digest: str, payload: CodePayload) -> None:
        """Keep a fresh code."""
        self.session.add(
            OauthCode(
                digest=digest,
                grant_id=payload.grant_id,
                client_id=payload.client_id,
                redirect_uri=payload.redirect_uri,
                redirect_uri_named=payload.redirect_uri_named,
                code_challenge=payload.code_challenge,
                nonce=payload.nonce,
                created_at=payload.created_at,
                expires_at=payload.expires_at,
                consumed_at=None,
                failures=0,
            )
        )

    async def find(self, digest: str) -> StoredCode | None:
        """The code or its tombstone."""
        row = await self.session.scalar(select(OauthCode).where(OauthCode.digest == digest))
        if row is None:
            return None
        payload = CodePayload(
            grant_id=row.grant_id,
            client_id=row.client_id,
            redirect_uri=row.redirect_uri,
            redirect_uri_named=row.redirect_uri_named,
            code_challenge=row.code_challenge,
            nonce=row.nonce,
            created_at=row.created_at,
            expires_at=row.expires_at,
        )
        return StoredCode(payload, row.consumed_at is not None, row.failures)

    async def take(self, digest: str, at: datetime) -> bool:
        """Spend the code; False for every caller but one."""
        statement = (
            update(OauthCode)
            .where(OauthCode.digest == digest, OauthCode.consumed_at.is_(None))
            .values(consumed_at=at)
            .returning(OauthCode.digest)
        )
        return await self.session.scalar(statement) is not None

    async def note_failure(self, digest: str) -> int:
        """Count a wrong verifier; answers how many there were."""
        statement = (
            update(OauthCode)
            .where(OauthCode.digest == digest)
            .values(failures=OauthCode.failures + 1)
            .returning(OauthCode.failures)
        )
        return await self.session.scalar(statement) or 0

    async def forget_before(self, at: datetime) -> None:
        """Delete codes and tombstones that expired before this instant; grants remember the hashes."""
        await self.session.execute(delete(OauthCode).where(OauthCode.expires_at < at))
