"""Wiring of proofs of maintainership."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.dependencies import account_service
from auth_server.audit.dependencies import AuditTrail, audit_service
from auth_server.audit.service import Audit
from auth_server.ownership.repository import OwnershipRepository
from auth_server.ownership.schemas import ProofEnded
from auth_server.ownership.service import Ground, ProofService, Proving, Rechecking, Verifier, Work
from auth_server.ownership.store.registry import Registry
from auth_server.resources import AuthResources
from auth_server.sessions.dependencies import browser_of
from shared.web.transactions import Session

#: Acts inside the transaction that ends a proof; registered in `app.py`.
AfterProofEnd = Callable[[AsyncSession, ProofEnded], Awaitable[None]]


def prepare(app: FastAPI, resources: AuthResources) -> None:
    """Set up what lives as long as the process."""
    app.state.after_proof_end = []
    app.state.verifier = Verifier(resources.now)


def proof_service(
    resources: AuthResources, session: AsyncSession, audit: Audit, listeners: Sequence[AfterProofEnd] = ()
) -> ProofService:
    """Proofs inside a session of the database that is not the request's own."""
    told = [partial(listener, session) for listener in listeners]
    settings = resources.settings.ownership
    return ProofService(OwnershipRepository(session), audit, settings, resources.now, told)


def ownership_ground(
    resources: AuthResources, listeners: Sequence[AfterProofEnd], address: str = ""
) -> Ground:
    """What each use case opens its transactions with."""
    settings = resources.settings

    @asynccontextmanager
    async def within(begun: AbstractAsyncContextManager[AsyncSession]) -> AsyncIterator[Work]:
        async with begun as session:
            audit = audit_service(session, resources.now, address)
            yield Work(
                accounts=account_service(resources, session, audit),
                ownership=OwnershipRepository(session),
                proofs=proof_service(resources, session, audit, listeners),
                audit=audit,
            )

    return Ground(
        registry=Registry(
            http=resources.http,
            url=(settings.registry_url or settings.web.public_url).rstrip("/"),
            seconds=settings.ownership.registry_seconds,
            shared=frozenset(name.casefold() for name in settings.ownership.shared_maintainers),
        ),
        settings=settings.ownership,
        now=resources.now,
        open=lambda: within(resources.database.transaction()),
        look=lambda: within(resources.database.reading()),
    )


def _proofs(request: Request, session: Session, audit: AuditTrail) -> ProofService:
    state = request.app.state
    return proof_service(state.resources, session, audit, state.after_proof_end)


def _proving(request: Request) -> Proving:
    state = request.app.state
    resources: AuthResources = state.resources
    ground = ownership_ground(resources, state.after_proof_end, browser_of(request).address)
    return Proving(ground, state.verifier, resources.settings.web.public_url)


def rechecking(app: FastAPI, resources: AuthResources) -> Rechecking:
    """Asks the registry about proofs that were given."""
    return Rechecking(ownership_ground(resources, app.state.after_proof_end))


OwnProofs = Annotated[ProofService, Depends(_proofs)]
Proves = Annotated[Proving, Depends(_proving)]
