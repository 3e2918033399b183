"""SQL of consents and of the questions put to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.authorization.models import AuthorizationRequest, Consent, PushedRequest


@dataclass(frozen=True, slots=True)
class AuthorizationRepository:
    """Consents and stored requests in one session of the database."""

    session: AsyncSession

    async def find_consent(self, account_id: UUID, client_id: str, at: datetime) -> Consent | None:
        """What the person agreed to, unless it has expired."""
        return await self.session.scalar(
            select(Consent).where(
                Consent.account_id == account_id, Consent.client_id == client_id, Consent.expires_at > at
            )
        )

    async def list_consents(self, account_id: UUID, at: datetime) -> Sequence[Consent]:
        """Everything that the person agreed to and that has not expired."""
        query = select(Consent).where(Consent.account_id == account_id, Consent.expires_at > at)
        return (await self.session.scalars(query)).all()

    async def keep_consent(self, consent: Consent) -> None:
        """Store a consent in place of an earlier one."""
        await self.session.merge(consent)

    async def forget_consent(self, account_id: UUID, client_id: str) -> bool:
        """Delete a consent; False when there was none."""
        statement = (
            delete(Consent)
            .where(Consent.account_id == account_id, Consent.client_id == client_id)
            .returning(Consent.client_id)
        )
        return await self.session.scalar(statement) is not None

    def add_request(self, row: AuthorizationRequest) -> None:
        """Store a question."""
        self.session.add(row)

    async def claim_request(self, ident: UUID, session_id: UUID, at: datetime) -> AuthorizationRequest | None:
        """Answer the question of this session; None for every caller but one."""
        return await self.session.scalar(
            update(AuthorizationRequest)
            .where(AuthorizationRequest.id == ident, AuthorizationRequest.session_id == session_id)
            .where(AuthorizationRequest.consumed_at.is_(None), AuthorizationRequest.expires_at > at)
            .values(consumed_at=at)
            .returning(AuthorizationRequest)
        )

    def add_pushed(self, row: PushedRequest) -> None:
        """Store a request that a client pushed."""
        self.session.add(row)

    async def find_pushed(self, digest: str, client_id: str, at: datetime) -> PushedRequest | None:
        """The client's pushed request, unless it was used or is too old."""
        return await self.session.scalar(
            select(PushedRequest).where(
                PushedRequest.digest == digest,
                PushedRequest.client_id == client_id,
                PushedRequest.consumed_at.is_(None),
                PushedRequest.expires_at > at,
            )
        )

    async def claim_pushed(self, digest: str, at: datetime) -> bool:
        """Use the pushed request; False for every caller but one."""
        statement = (
            update(PushedRequest)
            .where(PushedRequest.digest == digest, PushedRequest.consumed_at.is_(None))
            .values(consumed_at=at)
            .returning(PushedRequest.digest)
        )
        return await self.session.scalar(statement) is not None

    async def forget_pushed_before(self, at: datetime) -> None:
        """Delete pushed requests that expired before this instant."""
        await self.session.execute(delete(PushedRequest).where(PushedRequest.expires_at < at))

    async def forget_requests_before(self, at: datetime) -> None:
        """Delete questions that expired before this instant."""
        await self.session.execute(delete(AuthorizationRequest).where(AuthorizationRequest.expires_at < at))
