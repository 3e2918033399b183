"""SQL of enrolment. What may happen once is one statement that can succeed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from control_server.enrolment.models import EnrolmentNonce, EnrolmentToken, Registration


@dataclass(frozen=True, slots=True)
class EnrolmentRepository:
    """Tokens, challenges and registrations in one session."""

    session: AsyncSession

    def add(self, row: EnrolmentToken | EnrolmentNonce | Registration) -> None:
        """Store a new row."""
        self.session.add(row)

    async def forget_challenges(self, before: datetime) -> None:
        """Delete what is too old."""
        await self.session.execute(delete(EnrolmentNonce).where(EnrolmentNonce.expires_at < before))

    async def count_challenges(self, asked_by: str | None = None) -> int:
        """How many are out, in all or for one place."""
        query = select(func.count()).select_from(EnrolmentNonce)
        if asked_by is not None:
            query = query.where(EnrolmentNonce.asked_by == asked_by)
        return await self.session.scalar(query) or 0

    async def claim_challenge(self, challenge: str, at: datetime) -> bool:
        """Spend a challenge; True for the one caller that may go on."""
        claimed = await self.session.scalar(
            update(EnrolmentNonce)
            .where(
                EnrolmentNonce.challenge == challenge,
                EnrolmentNonce.consumed_at.is_(None),
                EnrolmentNonce.expires_at >= at,
            )
            .values(consumed_at=at)
            .returning(EnrolmentNonce.challenge)
        )
        return claimed is not None

    async def claim_token(self, digest: str, at: datetime) -> EnrolmentToken | None:
        """Spend a token; None for every caller but one."""
        return await self.session.scalar(
            update(EnrolmentToken)
            .where(
                EnrolmentToken.digest == digest,
                EnrolmentToken.consumed_at.is_(None),
                EnrolmentToken.revoked_at.is_(None),
                EnrolmentToken.expires_at >= at,
            )
            .values(consumed_at=at)
            .returning(EnrolmentToken)
        )

    async def revoke_token(self, token_id: str, at: datetime) -> EnrolmentToken | None:
        """Make an unused token useless."""
        return await self.session.scalar(
            update(EnrolmentToken)
            .where(EnrolmentToken.id == token_id, EnrolmentToken.consumed_at.is_(None))
            .values(revoked_at=at)
            .returning(EnrolmentToken)
        )

    async def list_tokens(self, limit: int) -> Sequence[EnrolmentToken]:
        """The newest tokens."""
        query = select(EnrolmentToken).order_by(EnrolmentToken.created_at.desc()).limit(limit)
        return (await self.session.scalars(query)).all()

    async def find_registration(self, ident: UUID) -> Registration | None:
        """A registration."""
        return await self.session.get(Registration, ident)

    async def list_registrations(self, state: str | None, limit: int) -> Sequence[Registration]:
        """The newest registrations, of one state where asked for."""
        query = select(Registration).order_by(Registration.created_at.desc()).limit(limit)
        if state is not None:
            query = query.where(Registration.state == state)
        return (await self.session.scalars(query)).all()

    async def claim_registration(
        self, ident: UUID, *, was: str, becomes: str, node_id: str | None = None
    ) -> Registration | None:
        """Move a registration on from `was`; None when it is not there any more."""
        values: dict[str, object] = {"state": becomes}
        if node_id is not None:
            values["node_id"] = node_id
        return await self.session.scalar(
            update(Registration)
            .where(Registration.id == ident, Registration.state == was)
            .values(**values)
            .returning(Registration)
        )
