"""SQL of clients and of the proofs that they have shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.clients.models import Client, UsedProof
from shared.database import after_commit


@dataclass(frozen=True, slots=True)
class ClientRepository:
    """Clients in one session of the database."""

    session: AsyncSession
    #: Told after the commit of a change.
    changed: Callable[[], Awaitable[None]]

    async def find(self, ident: str) -> Client | None:
        """The client of this id, disabled or not."""
        return await self.session.get(Client, ident)

    async def find_detached(self, ident: str) -> Client | None:
        """The same, for whoever only reads it and keeps it longer than the session."""
        client = await self.find(ident)
        if client is not None:
            self.session.expunge(client)
        return client

    async def list_all(self) -> Sequence[Client]:
        """Every client, by id."""
        return (await self.session.scalars(select(Client).order_by(Client.id))).all()

    def add(self, client: Client) -> None:
        """Store a new client."""
        self.session.add(client)

    def note_change(self) -> None:
        """A client is stored or changed in this session."""
        after_commit(self.session, self.changed)


@dataclass(frozen=True, slots=True)
class ProofRepository:
    """Proofs and assertions that were shown, in one session of the database."""

    session: AsyncSession

    async def claim(self, digest: str, expires_at: datetime) -> bool:
        """Show it; False for every caller but one, until it has expired and is forgotten."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        values = {"digest": digest, "expires_at": expires_at}
        statement = insert(UsedProof).values(values).on_conflict_do_nothing().returning(UsedProof.digest)
        return await self.session.scalar(statement) is not None

    async def forget_before(self, at: datetime) -> None:
        """Delete what is too old to be shown again."""
        await self.session.execute(delete(UsedProof).where(UsedProof.expires_at < at))
