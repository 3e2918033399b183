"""SQL of clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.clients.models import Client


@dataclass(frozen=True, slots=True)
class ClientRepository:
    """Clients in one session of the database."""

    session: AsyncSession

    async def find(self, ident: str) -> Client | None:
        """The client of this id, disabled or not."""
        return await self.session.get(Client, ident)

    async def list_all(self) -> Sequence[Client]:
        """Every client, by id."""
        return (await self.session.scalars(select(Client).order_by(Client.id))).all()

    def add(self, client: Client) -> None:
        """Store a new client."""
        self.session.add(client)
