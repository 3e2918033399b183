"""Clients: found, registered, authenticated and administered."""

from auth_server.clients.service.administration import ClientAdministration
from auth_server.clients.service.clients import (
    ClientGate,
    ClientService,
    find_redirect_uri,
    parse_registration,
)
from auth_server.clients.service.own import CLI, PORTAL, seed_own_clients

__all__ = [
    "CLI",
    "PORTAL",
    "ClientAdministration",
    "ClientGate",
    "ClientService",
    "find_redirect_uri",
    "parse_registration",
    "seed_own_clients",
]
