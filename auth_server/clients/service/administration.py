"""Administering clients: each act is written to the audit trail, and secrets are shown once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from auth_server.audit.service import Audit
from auth_server.clients.errors import ClientExists, ClientNotFound, ClientProtected
from auth_server.clients.models import Client
from auth_server.clients.schemas import ClientChange, ClientCreate, ClientRegistration
from auth_server.clients.service.clients import ClientService, parse_registration
from auth_server.clients.service.own import CLI, PORTAL
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal
from shared.kernel.secrets import digest_of, mint

_SECRET_PREFIX = "rlk"  # noqa: S105 - what secrets of clients begin with
_OURS = frozenset({PORTAL, CLI})

#: Ends what a client was given, in the transaction that shuts it out.
AfterClientEnd = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ClientAdministration:
    """What administrators do with clients. Our own are registered anew at every start, and not changed."""

    clients: ClientService
    audit: Audit
    now: Clock
    after_end: Sequence[AfterClientEnd] = ()

    async def list(self) -> Sequence[Client]:
        """Every client, by id, those that are shut out included."""
        return await self.clients.clients.list_all()

    async def get(self, ident: str) -> Client:
        """One client. Raises ClientNotFound."""
        client = await self.clients.clients.find(ident)
        if client is None:
            raise ClientNotFound
        return client

    async def create(self, by: Principal, wanted: ClientCreate) -> tuple[Client, str | None]:
        """Register a client; answers its secret where it has one. Raises ClientExists."""
        registration = wanted.registration()
        if await self.clients.clients.find(registration.client_id) is not None:
            raise ClientExists
        secret = mint(_SECRET_PREFIX).text if wanted.confidential and not wanted.public_keys else None
        client = await self.clients.register(registration, secret)
        self._note(by, "client.created", client, after=shown(client))
        return client, secret

    async def change(self, by: Principal, ident: str, wanted: ClientChange) -> Client:
        """Change what is named; a client that proves itself by keys keeps doing so.

        Raises ClientNotFound, ClientProtected, RegistrationRefused.
        """
        client = await self._get_changeable(ident)
        before = shown(client)
        named = wanted.model_dump(exclude_unset=True, exclude={"enabled"}, mode="json")
        registration = parse_registration({**before, **named})
        self._check_proof(client, registration)
        await self.clients.keep(registration, client.secret_digest)
        if wanted.enabled is not None:
            await self._allow(client, enabled=wanted.enabled)
        self._note(by, "client.changed", client, before=before, after=shown(client))
        return client

    async def renew_secret(self, by: Principal, ident: str) -> str:
        """A fresh secret; the old one is worthless at once. Raises ClientNotFound, ClientProtected."""
        client = await self._get_changeable(ident)
        if client.secret_digest is None:
            raise ClientProtected("This client has no secret.")
        secret = mint(_SECRET_PREFIX).text
        client.secret_digest = digest_of(secret)
        self.clients.clients.note_change()
        self._note(by, "client.secret_renewed", client)
        return secret

    async def _allow(self, client: Client, *, enabled: bool) -> None:
        self.clients.clients.note_change()
        if not enabled and client.disabled_at is None:
            client.disabled_at = self.now()
            for act in self.after_end:
                await act(client.id)
        elif enabled:
            client.disabled_at = None

    async def _get_changeable(self, ident: str) -> Client:
        if ident in _OURS:
            raise ClientProtected
        return await self.get(ident)

    def _check_proof(self, client: Client, wanted: ClientRegistration) -> None:
        if bool(client.public_keys) != bool(wanted.public_keys):
            raise ClientProtected("How a client proves itself stays as it was registered.")

    def _note(
        self,
        by: Principal,
        action: str,
        client: Client,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        self.audit.note(by, action, ("client", client.id), before=before, after=after)


def shown(client: Client) -> dict[str, Any]:
    """The registration as it is; nothing of it is secret."""
    return {
        "client_id": client.id,
        "name": client.name,
        "native": client.native,
        "first_party": client.first_party,
        "redirect_uris": client.redirect_uris,
        "post_logout_redirect_uris": client.post_logout_redirect_uris,
        "backchannel_logout_uri": client.backchannel_logout_uri,
        "grant_types": client.grant_types,
        "scopes": client.scopes,
        "origins": client.origins,
        "audiences": client.audiences,
        "id_token_signed_response_alg": client.id_token_signed_response_alg,
        "public_keys": client.public_keys or [],
        "role": client.role,
        "requires_pushed": client.requires_pushed,
        "requires_dpop": client.requires_dpop,
    }
