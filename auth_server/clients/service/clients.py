"""Clients: found, registered and authenticated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from auth_server.clients.errors import ClientThrottled, InvalidClient, RegistrationRefused
from auth_server.clients.models import Client
from auth_server.clients.repository import ClientRepository, ProofRepository
from auth_server.clients.rules import addresses
from auth_server.clients.rules.assertions import Assertion, Expected, verify_assertion
from auth_server.clients.rules.parameters import Credentials
from auth_server.clients.rules.registration import check_registration
from auth_server.clients.schemas import ClientRegistration
from auth_server.clients.store import FailedSecrets
from shared.kernel.clock import Clock
from shared.kernel.errors import FieldError
from shared.kernel.recent import Recent, Unread
from shared.kernel.secrets import digest_of, matches

#: Compared with where there is no client, so that an unknown one takes as long as a wrong secret.
_NOBODYS_DIGEST = digest_of("")


M = TypeVar("M", bound=BaseModel)


def parse_registration(values: dict[str, Any]) -> ClientRegistration:
    """The registration that is meant. Raises RegistrationRefused."""
    return parse(ClientRegistration, values)


def parse(model: type[M], values: Any) -> M:
    """What is meant to be registered or changed. Raises RegistrationRefused."""
    try:
        return model.model_validate(values)
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
class ClientGate:
    """Whether a client is who it says it is; asks no database."""

    failures: FailedSecrets
    issuer: str
    now: Clock

    def admit(self, client: Client | None, credentials: Credentials, address: str) -> Client:
        """The client, where its credentials prove it. Raises InvalidClient or ClientThrottled."""
        # Nothing is awaited here, so parallel guesses are counted one after the other.
        wait = self.failures.wait(credentials.client_id, address, self.now())
        if wait is not None:
            raise ClientThrottled(retry_after=wait)
        allowed = client is not None and client.disabled_at is None
        if client is None or not allowed or not self._proves(client, credentials):
            if not allowed:
                matches(credentials.secret or "", _NOBODYS_DIGEST)
            self.failures.note(credentials.client_id, address, self.now())
            raise InvalidClient
        return client

    def read(self, client: Client, assertion: str) -> Assertion | None:
        """The assertion, where one of the client's keys signed it for us and now."""
        expected = Expected(client.id, self.issuer, self.now())
        return verify_assertion(assertion, client.public_keys or [], expected)

    def _proves(self, client: Client, credentials: Credentials) -> bool:
        if client.public_keys:
            return credentials.assertion is not None and self.read(client, credentials.assertion) is not None
        if credentials.assertion is not None:
            return False
        if client.secret_digest is None:
            return credentials.secret is None
        return matches(credentials.secret or "", client.secret_digest)


@dataclass(frozen=True, slots=True)
class ClientService:
    """Clients as one database session sees them."""

    clients: ClientRepository
    proofs: ProofRepository
    gate: ClientGate
    #: Clients as this process has read them a moment ago; None for ids that nobody has. Whoever guesses ids
    #: waits for the database equally seldom in both cases.
    known: Recent[str, Client | None]
    now: Clock

    async def find(self, ident: str) -> Client | None:
        """The client of this id, unless it is disabled."""
        client = await self.clients.find(ident)
        return client if client is not None and client.disabled_at is None else None

    async def find_known(self, ident: str) -> Client | None:
        """The same as of a second ago at most, to be read only."""
        client = self.known.find(ident, Unread.UNREAD)
        if client is Unread.UNREAD:
            changes = self.known.changes
            client = await self.clients.find_detached(ident)
            self.known.keep(ident, client, changes)
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
        return await self.keep(wanted, None if secret is None else digest_of(secret))

    async def keep(self, wanted: ClientRegistration, secret_digest: str | None) -> Client:
        """The same with a secret that is known by its hash only."""
        check_registration(wanted, confidential=secret_digest is not None or bool(wanted.public_keys))
        client = await self.clients.find(wanted.client_id)
        if client is None:
            client = Client(id=wanted.client_id, created_at=self.now(), disabled_at=None)
            _apply(client, wanted, secret_digest)
            self.clients.add(client)
        else:
            _apply(client, wanted, secret_digest)
        self.clients.note_change()
        return client

    async def authenticate(self, credentials: Credentials, address: str) -> Client:
        """The client that proved itself. Raises InvalidClient or ClientThrottled, whoever it names."""
        client = self.gate.admit(await self.find_known(credentials.client_id), credentials, address)
        if credentials.assertion is not None:
            await self._spend(client, credentials.assertion)
        return client

    async def _spend(self, client: Client, text: str) -> None:
        """An assertion is good once (RFC 7523, section 3). Raises InvalidClient."""
        assertion = self.gate.read(client, text)
        if assertion is None or not await self.proofs.claim(assertion.name, assertion.expires_at):
            raise InvalidClient

    async def spend_proof(self, name: str, expires_at: datetime) -> bool:
        """Whether a proof is shown for the first time; False for every caller but one."""
        return await self.proofs.claim(name, expires_at)

    async def forget(self) -> None:
        """Drop proofs that are too old to be shown again."""
        await self.proofs.forget_before(self.now())


def _apply(client: Client, wanted: ClientRegistration, secret_digest: str | None) -> None:
    client.name = wanted.name
    client.secret_digest = secret_digest
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
    client.public_keys = [dict(key) for key in wanted.public_keys] or None
    client.role = wanted.role
    client.requires_pushed = wanted.requires_pushed
    client.requires_dpop = wanted.requires_dpop


def find_redirect_uri(client: Client, named: str | None) -> str | None:
    """The address to send the person back to: the named one where it is registered, else the only one."""
    if named is None:
        return client.redirect_uris[0] if len(client.redirect_uris) == 1 else None
    known = any(addresses.matches(uri, named, native=client.native) for uri in client.redirect_uris)
    return named if known else None
