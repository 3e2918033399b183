"""JSON routes of the administration of clients."""

from __future__ import annotations

from fastapi import APIRouter, status

from auth_server.accounts.dependencies import Administrator
from auth_server.clients.dependencies import Clients
from auth_server.clients.models import Client
from auth_server.clients.schemas import ClientChange, ClientCreate, ClientMade, ClientRead, ClientSecret
from auth_server.clients.service.administration import shown
from auth_server.sessions.dependencies import ConfirmedAdministrator

router = APIRouter(prefix="/auth/api/v1/clients", tags=["clients"])


@router.get("")
async def list_clients(_administrator: Administrator, clients: Clients) -> list[ClientRead]:
    """Every client, by id, those that are shut out included."""
    return [as_read(client) for client in await clients.list()]


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_client(
    wanted: ClientCreate, administrator: ConfirmedAdministrator, clients: Clients
) -> ClientMade:
    """Register a client; its secret is shown once. Needs a fresh passkey."""
    client, secret = await clients.create(administrator, wanted)
    return ClientMade(**as_read(client).model_dump(), client_secret=secret)


@router.get("/{client_id}")
async def get_client(client_id: str, _administrator: Administrator, clients: Clients) -> ClientRead:
    """One client."""
    return as_read(await clients.get(client_id))


@router.patch("/{client_id}")
async def change_client(
    client_id: str, wanted: ClientChange, administrator: ConfirmedAdministrator, clients: Clients
) -> ClientRead:
    """Change what is named, shut it out or let it in. Needs a fresh passkey."""
    return as_read(await clients.change(administrator, client_id, wanted))


@router.post("/{client_id}/secret")
async def renew_secret(
    client_id: str, administrator: ConfirmedAdministrator, clients: Clients
) -> ClientSecret:
    """A fresh secret, shown once; the old one is worthless at once. Needs a fresh passkey."""
    return ClientSecret(client_secret=await clients.renew_secret(administrator, client_id))


def as_read(client: Client) -> ClientRead:
    """A client as administrators see it."""
    return ClientRead.model_validate(
        {
            **shown(client),
            "confidential": client.is_confidential,
            "created_at": client.created_at,
            "disabled_at": client.disabled_at,
        }
    )
