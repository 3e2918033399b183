"""Clients: registered, found and authenticated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from auth_server.clients.errors import ClientThrottled, InvalidClient, RegistrationRefused
from auth_server.clients.models import Client
from auth_server.clients.repository import ClientRepository
from auth_server.clients.rules import addresses
from auth_server.clients.rules.parameters import Credentials
from auth_server.clients.rules.registration import check_registration
from auth_server.clients.schemas import ALL_SCOPES, ClientRegistration
from auth_server.clients.store import FailedSecrets, load_or_make_secret
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError
from shared.kernel.secrets import digest_of, matches

PORTAL = "routeloom-portal"
CLI = "routeloom-cli"
#: Compared with where there is no client, so that an unknown one takes as long as a wrong secret.
_NOBODYS_DIGEST = digest_of("")


def parse_registration(values: dict[str, Any]) -> ClientRegistration:
    """The registration that is meant. Raises RegistrationRefused."""
    try:
        return ClientRegistration.model_validate(values)
    except ValidationError as error:
        fields = [
            FieldError(
                ".".join(str(part) for part in item["loc"]) or "client",
                str(item["type"]),
                str(item["msg"]).removeprefix("Value error, "),
            )
            for item in error.errors(include_url=False, include_input=False)
        ]
        raise RegistrationRefused(fields=fields) from None


@dataclass(frozen=True, slots=True)
class ClientService:
    """Clients as one database session sees them."""

    clients: ClientRepository
    failures: FailedSecrets
    now: Clock

    async def find(self, ident: str) -> Client | None:
        """The client of this id, unless it is disabled."""
        client = await self.clients.find(ident)
        return client if client is not None and client.disabled_at is None else None

    async def get(self, ident: str) -> Client:
        """The client of this id, which must exist. Raises InvalidClient."""
        client = await self.find(ident)
        if client is None:
            raise InvalidClient
        return client

    async def list(self) -> Sequence[Client]:
        """Every client that is not disabled."""
        return [client for client in await self.clients.list_all() if client.disabled_at is None]

    async def allows_origin(self, origin: str) -> bool:
        """Whether a client registered this web page's origin."""
        return any(origin in client.origins for client in await self.list())

    async def register(self, wanted: ClientRegistration, secret: str | None) -> Client:
        """Store a client, or bring a known one to this registration; without a secret it is public.

        Raises RegistrationRefused.
        """
        check_registration(wanted)
        client = await self.clients.find(wanted.client_id)
        if client is None:
            client = Client(id=wanted.client_id, created_at=self.now(), disabled_at=None)
            _apply(client, wanted, secret)
            self.clients.add(client)
        else:
            _apply(client, wanted, secret)
        return client

    async def authenticate(self, credentials: Credentials, address: str) -> Client:
        """The client that proved itself. Raises InvalidClient or ClientThrottled, whoever it names."""
        client = await self.find(credentials.client_id)
        # Nothing is awaited from here on, so parallel guesses are counted one after the other.
        wait = self.failures.wait(credentials.client_id, address, self.now())
        if wait is not None:
            raise ClientThrottled(retry_after=wait)
        if client is None or not _proves(client, credentials):
            if client is None:
                matches(credentials.secret or "", _NOBODYS_DIGEST)
            self.failures.note(credentials.client_id, address, self.now())
            raise InvalidClient
        return client


def _proves(client: Client, credentials: Credentials) -> bool:
    if client.secret_digest is None:
        return credentials.secret is None
    return matches(credentials.secret or "", client.secret_digest)


def _apply(client: Client, wanted: ClientRegistration, secret: str | None) -> None:
    client.name = wanted.name
    client.secret_digest = None if secret is None else digest_of(secret)
    client.native = wanted.native
    client.first_party = wanted.first_party
    client.redirect_uris = list(wanted.redirect_uris)
    client.post_logout_redirect_uris = list(wanted.post_logout_redirect_uris)
    client.backchannel_logout_uri = wanted.backchannel_logout_uri
    client.grant_types = list(wanted.grant_types)
    client.scopes = list(wanted.scopes)
    client.origins = list(wanted.origins)
    client.audiences = list(wanted.audiences)
    client.id_token_signed_response_alg = wanted.id_token_signed_response_alg


def find_redirect_uri(client: Client, named: str | None) -> str | None:
    """The address to send the person back to: the named one where it is registered, else the only one."""
    if named is None:
        return client.redirect_uris[0] if len(client.redirect_uris) == 1 else None
    known = any(addresses.matches(uri, named, native=client.native) for uri in client.redirect_uris)
    return named if known else None


async def seed_own_clients(clients: ClientService, public_url: str, secrets: Path) -> None:
    """Register the portal and the command line; doing it twice changes nothing."""
    portal = ClientRegistration(
        client_id=PORTAL,
        name="Routeloom portal",
        first_party=True,
        redirect_uris=(f"{public_url}/sign-in/callback",),
        post_logout_redirect_uris=(f"{public_url}/",),
        backchannel_logout_uri=f"{public_url}/sign-in/backchannel-logout",
        scopes=ALL_SCOPES,
        audiences=(f"{public_url}/api",),
    )
    command_line = ClientRegistration(
        client_id=CLI,
        name="Routeloom command line",
        native=True,
        first_party=True,
        redirect_uris=("http://127.0.0.1/callback", "http://[::1]/callback"),
        scopes=ALL_SCOPES,
    )
    await clients.register(portal, load_or_make_secret(secrets / "portal-client"))
    await clients.register(command_line, None)
