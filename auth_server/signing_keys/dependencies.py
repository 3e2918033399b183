"""Wiring of signing keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import AuditTrail
from auth_server.audit.service import Audit
from auth_server.resources import AuthResources
from auth_server.signing_keys.repository import SigningKeyRepository
from auth_server.signing_keys.service import KeyAdministration, KeyRing, StandingKeys
from auth_server.signing_keys.store import OpenedKeys
from shared.web.transactions import Session

__all__ = [
    "AdministeredKeys",
    "OpenedKeys",
    "SigningKeys",
    "key_administration",
    "key_ring",
    "keys_made",
    "make_signing_keys",
    "opened_keys",
    "standing_keys",
]


def key_ring(resources: AuthResources, session: AsyncSession, opened: OpenedKeys) -> KeyRing:
    """Signing keys inside a session that is not the request's own."""
    return KeyRing(SigningKeyRepository(session, opened.forget), opened, resources.now)


def key_administration(
    resources: AuthResources, session: AsyncSession, opened: OpenedKeys, audit: Audit
) -> KeyAdministration:
    """The administration of signing keys inside a session that is not the request's own."""
    return KeyAdministration(key_ring(resources, session, opened), audit)


def standing_keys(resources: AuthResources, opened: OpenedKeys) -> StandingKeys:
    """Signing keys for the life of the process."""

    @asynccontextmanager
    async def open_ring() -> AsyncIterator[KeyRing]:
        async with resources.database.transaction() as session:
            yield key_ring(resources, session, opened)

    return StandingKeys(opened, open_ring)


def opened_keys(resources: AuthResources) -> OpenedKeys:
    """Nothing opened yet; one such object a process."""
    return OpenedKeys(resources.settings.state_directory / "secrets")


async def make_signing_keys(resources: AuthResources, opened: OpenedKeys) -> None:
    """Make the keys that are missing, once a process, in a transaction of its own."""
    if not opened.complete:
        async with resources.database.transaction() as session:
            await key_ring(resources, session, opened).ensure()


async def keys_made(request: Request) -> None:
    """Before a request's own transaction: there are keys to sign with."""
    state = request.app.state
    await make_signing_keys(state.resources, state.opened_keys)


def _key_ring(request: Request, _made: Annotated[None, Depends(keys_made)], session: Session) -> KeyRing:
    return key_ring(request.app.state.resources, session, request.app.state.opened_keys)


def _administration(ring: Annotated[KeyRing, Depends(_key_ring)], audit: AuditTrail) -> KeyAdministration:
    return KeyAdministration(ring, audit)


AdministeredKeys = Annotated[KeyAdministration, Depends(_administration)]
SigningKeys = Annotated[KeyRing, Depends(_key_ring)]
