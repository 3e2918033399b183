"""SQL of challenges and proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.ownership.models import OwnershipChallenge, OwnershipProof

MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class OwnershipRepository:
    """Challenges and proofs in one session of the database."""

    session: AsyncSession

    def add_challenge(self, challenge: OwnershipChallenge) -> None:
        """Store a new challenge."""
        self.session.add(challenge)

    async def count_challenges_since(self, account_id: UUID, at: datetime) -> int:
        """How many the person began since this instant."""
        query = select(func.count()).select_from(OwnershipChallenge)
        query = query.where(OwnershipChallenge.account_id == account_id, OwnershipChallenge.created_at > at)
        return await self.session.scalar(query) or 0

    async def find_open(self, ident: UUID, session_id: UUID, at: datetime) -> OwnershipChallenge | None:
        """The challenge, while this session can still answer it."""
        query = select(OwnershipChallenge).where(*_open(ident, session_id, at))
        return await self.session.scalar(query.where(OwnershipChallenge.attempts < MOST_ATTEMPTS))

    async def claim_attempt(self, ident: UUID, session_id: UUID, at: datetime) -> bool:
        """Use one of the few looks at a signature; False when there is none left."""
        statement = (
            update(OwnershipChallenge)
            .where(*_open(ident, session_id, at), OwnershipChallenge.attempts < MOST_ATTEMPTS)
            .values(attempts=OwnershipChallenge.attempts + 1)
            .returning(OwnershipChallenge.id)
        )
        return await self.session.scalar(statement) is not None

    async def claim_challenge(self, ident: UUID, session_id: UUID, at: datetime) -> bool:
        """Spend the challenge; False for every caller but one."""
        statement = (
            update(OwnershipChallenge)
            .where(*_open(ident, session_id, at))
            .values(consumed_at=at)
            .returning(OwnershipChallenge.id)
        )
        return await self.session.scalar(statement) is not None

    async def forget_before(self, at: datetime) -> None:
        """Delete challenges that were over before this instant."""
        await self.session.execute(delete(OwnershipChallenge).where(OwnershipChallenge.expires_at < at))

    def add_proof(self, proof: OwnershipProof) -> None:
        """Store a new proof."""
        self.session.add(proof)

    async def list_live(self, account_id: UUID) -> Sequence[OwnershipProof]:
        """The person's proofs that did not end: the active one first, then the oldest."""
        query = (
            select(OwnershipProof)
            .where(OwnershipProof.account_id == account_id, OwnershipProof.ended_at.is_(None))
            .order_by(OwnershipProof.active.desc(), OwnershipProof.proved_at, OwnershipProof.id)
            .execution_options(populate_existing=True)
        )
        return (await self.session.scalars(query)).all()

    async def list_unchecked_since(self, at: datetime, limit: int) -> Sequence[OwnershipProof]:
        """Live proofs that were not checked since this instant, longest ago first."""
        query = (
            select(OwnershipProof)
            .where(OwnershipProof.ended_at.is_(None), OwnershipProof.checked_at < at)
            .order_by(OwnershipProof.checked_at)
            .limit(limit)
        )
        return (await self.session.scalars(query)).all()

    async def note_check(self, ident: UUID, values: Mapping[str, Any]) -> None:
        """Keep what the registry said of a proof that did not end."""
        statement = update(OwnershipProof).where(OwnershipProof.id == ident)
        await self.session.execute(statement.where(OwnershipProof.ended_at.is_(None)).values(**values))

    async def claim_end(
        self, ident: UUID, account_id: UUID, at: datetime, reason: str
    ) -> OwnershipProof | None:
        """End a proof of this account; None for every caller but one."""
        return await self.session.scalar(
            update(OwnershipProof)
            .where(OwnershipProof.id == ident, OwnershipProof.account_id == account_id)
            .where(OwnershipProof.ended_at.is_(None))
            .values(ended_at=at, end_reason=reason, active=False)
            .returning(OwnershipProof)
        )

    async def activate(self, ident: UUID, account_id: UUID) -> None:
        """Make this the proof that claims are of, and no other of the account."""
        chosen = OwnershipProof.id == ident
        statement = update(OwnershipProof).where(
            OwnershipProof.account_id == account_id, OwnershipProof.ended_at.is_(None)
        )
        await self.session.execute(statement.values(active=chosen))


def _open(ident: UUID, session_id: UUID, at: datetime) -> list[ColumnElement[bool]]:
    return [
        OwnershipChallenge.id == ident,
        OwnershipChallenge.session_id == session_id,
        OwnershipChallenge.consumed_at.is_(None),
        OwnershipChallenge.expires_at > at,
    ]
