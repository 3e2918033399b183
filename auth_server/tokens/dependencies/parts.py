"""The services of tokens inside one transaction, and what those of one process share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.audit.dependencies import audit_service
from auth_server.audit.service import Audit
from auth_server.clients.dependencies import FailedSecrets, client_service
from auth_server.clients.service import ClientService
from auth_server.ownership.dependencies import proof_service
from auth_server.resources import AuthResources
from auth_server.sessions.dependencies import session_service
from auth_server.sessions.service import SessionService
from auth_server.signing_keys.dependencies import OpenedKeys, key_ring, opened_keys, standing_keys
from auth_server.tokens.repository import (
    AtOnceRepository,
    EndedTokenRepository,
    GrantRepository,
    LogoutRepository,
    RefreshTokenRepository,
)
from auth_server.tokens.service import (
    GrantService,
    InspectionService,
    LogoutService,
    Minter,
    PlainExchange,
    RedemptionService,
    Successors,
)
from auth_server.tokens.service.redemption import Exchange
from auth_server.tokens.store import CodeStores, KvCodeStore, SqlCodeStore


@dataclass(frozen=True, slots=True)
class TokenServices:
    """Everything about tokens inside one transaction."""

    session: AsyncSession
    clients: ClientService
    sessions: SessionService
    grants: GrantService
    redemption: RedemptionService
    inspection: InspectionService
    logouts: LogoutService


#: What a feature exchanges at the token endpoint, inside the request's transaction.
MakeExchange = Callable[[AsyncSession, TokenServices], Exchange]


@dataclass(frozen=True, slots=True)
class TokenParts:
    """What the services of one process share."""

    resources: AuthResources
    opened_keys: OpenedKeys
    failed_secrets: FailedSecrets
    #: Codes on the tier, with what this process remembers of them; None where no tier keeps codes.
    codes: KvCodeStore | None
    #: Sessions that tell everybody when one ends.
    sessions: Callable[[AsyncSession, Audit], SessionService]
    #: By grant type; other features add theirs when the process starts.
    exchanges: dict[str, MakeExchange] = field(default_factory=dict)


def prepare(app: FastAPI, resources: AuthResources) -> TokenParts:
    """Keep what the process shares where requests find it."""
    state = app.state
    state.opened_keys = opened_keys(resources)

    def sessions(session: AsyncSession, audit: Audit) -> SessionService:
        return session_service(resources, session, audit, state.last_uses, state.after_session_end)

    parts = TokenParts(resources, state.opened_keys, FailedSecrets(), _codes(resources), sessions)
    state.tokens = parts
    state.plain_exchange = plain_exchange(parts)
    return parts


def plain_exchange(parts: TokenParts) -> PlainExchange:
    """What needs no session; one for the process."""
    resources = parts.resources
    settings, now, direct = resources.settings, resources.now, resources.database.direct

    async def owned(account_id: UUID) -> dict[str, Any]:
        async with resources.database.reading() as session:
            return await proof_service(resources, session, audit_service(session, now)).claims_of(account_id)

    keys = standing_keys(resources, parts.opened_keys)
    return PlainExchange(
        successors=Successors(Minter(keys, settings, now, owned), now),
        codes=parts.codes,
        families=None if direct is None else AtOnceRepository(direct),
        session_idle=settings.sign_in.session_idle,
        now=now,
    )


def parts_alone(resources: AuthResources) -> TokenParts:
    """The same for a command, outside an application."""

    def sessions(session: AsyncSession, audit: Audit) -> SessionService:
        return session_service(resources, session, audit)

    return TokenParts(resources, opened_keys(resources), FailedSecrets(), _codes(resources), sessions)


def _codes(resources: AuthResources) -> KvCodeStore | None:
    return KvCodeStore(resources.kv) if resources.kv.configured else None


def token_services(parts: TokenParts, session: AsyncSession, from_address: str = "") -> TokenServices:
    """The services inside a session of the database."""
    resources = parts.resources
    settings, now = resources.settings, resources.now
    audit = audit_service(session, now, from_address)
    clients = client_service(resources, session, parts.failed_secrets)
    sessions = parts.sessions(session, audit)
    owned = proof_service(resources, session, audit).claims_of
    keys = key_ring(resources, session, parts.opened_keys)
    minter = Minter(keys, settings, now, owned)
    codes = CodeStores(SqlCodeStore(session), parts.codes)
    grants = GrantService(GrantRepository(session), codes, audit, settings, now)
    refresh_tokens = RefreshTokenRepository(session)
    ended = EndedTokenRepository(session)
    others: dict[str, Callable[[], Exchange]] = {}
    services = TokenServices(
        session=session,
        clients=clients,
        sessions=sessions,
        grants=grants,
        redemption=RedemptionService(grants, refresh_tokens, sessions, Successors(minter, now), now, others),
        inspection=InspectionService(grants, refresh_tokens, ended, clients, minter, keys, now),
        logouts=LogoutService(grants, LogoutRepository(session), clients, minter, keys, now),
    )
    others |= {name: partial(make, session, services) for name, make in parts.exchanges.items()}
    return services
