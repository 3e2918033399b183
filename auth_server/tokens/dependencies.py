"""Wiring of tokens: services of one transaction, and what acts when sessions and accounts end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.dependencies import AfterAccountChange
from auth_server.accounts.schemas import AccountChange, AccountChanged
from auth_server.audit.dependencies import audit_service
from auth_server.audit.service import Audit
from auth_server.clients.dependencies import AfterClientEnd, FailedSecrets, Form, client_service
from auth_server.clients.errors import OAuthError, ServerUnavailable
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import read_credentials
from auth_server.clients.schemas import OpenIdScope
from auth_server.clients.service import ClientService
from auth_server.ownership.dependencies import AfterProofEnd, proof_service, rechecking
from auth_server.ownership.schemas import EndReason as ProofEndReason
from auth_server.ownership.schemas import ProofEnded
from auth_server.resources import AuthResources
from auth_server.sessions.dependencies import AfterSessionEnd, session_service
from auth_server.sessions.schemas import EndReason, SessionEnded
from auth_server.sessions.service import SessionService
from auth_server.signing_keys.dependencies import OpenedKeys, key_ring, keys_made, opened_keys
from auth_server.tokens.errors import BearerError, InvalidDpopProof
from auth_server.tokens.repository import (
    EndedTokenRepository,
    GrantRepository,
    LogoutRepository,
    RefreshTokenRepository,
)
from auth_server.tokens.schemas import RevokeReason
from auth_server.tokens.service import (
    GrantService,
    InspectionService,
    LogoutService,
    Minter,
    RedemptionService,
)
from auth_server.tokens.service.redemption import Exchange
from auth_server.tokens.store import CodeStores, KvCodeStore, SqlCodeStore
from shared.database import after_commit
from shared.kernel.errors import AppError, Kind
from shared.kernel.proofs import ProofRefused, Proven, verify_proof
from shared.kernel.secrets import digest_of


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

    parts = TokenParts(resources, state.opened_keys, FailedSecrets(), sessions)
    state.tokens = parts
    return parts


def parts_alone(resources: AuthResources) -> TokenParts:
    """The same for a command, outside an application."""

    def sessions(session: AsyncSession, audit: Audit) -> SessionService:
        return session_service(resources, session, audit)

    return TokenParts(resources, opened_keys(resources), FailedSecrets(), sessions)


def token_services(parts: TokenParts, session: AsyncSession, from_address: str = "") -> TokenServices:
    """The services inside a session of the database."""
    resources = parts.resources
    settings, now = resources.settings, resources.now
    audit = audit_service(session, now, from_address)
    clients = client_service(resources, session, parts.failed_secrets)
    sessions = parts.sessions(session, audit)
    owned = proof_service(resources, session, audit).claims_of
    minter = Minter(key_ring(resources, session, parts.opened_keys), settings, now, owned)
    kv = KvCodeStore(resources.kv) if resources.kv.configured else None
    codes = CodeStores(SqlCodeStore(session), kv)
    grants = GrantService(GrantRepository(session), codes, audit, settings, now)
    refresh_tokens = RefreshTokenRepository(session)
    ended = EndedTokenRepository(session)
    others: dict[str, Exchange] = {}
    services = TokenServices(
        session=session,
        clients=clients,
        sessions=sessions,
        grants=grants,
        redemption=RedemptionService(grants, refresh_tokens, sessions, minter, now, others),
        inspection=InspectionService(grants, refresh_tokens, ended, clients, minter, now),
        logouts=LogoutService(grants, LogoutRepository(session), clients, minter, now),
    )
    others |= {name: make(session, services) for name, make in parts.exchanges.items()}
    return services


async def writing_session(
    request: Request, _made: Annotated[None, Depends(keys_made)]
) -> AsyncIterator[AsyncSession]:
    """A transaction that writes, also for a GET: an authorization or a logout is one."""
    async with request.app.state.resources.database.transaction() as session:
        yield session


def address_of(request: Request) -> str:
    """Whom the request came from."""
    return request.client.host if request.client else ""


@asynccontextmanager
async def _in_oauth_words(
    request: Request, begin: Callable[[], AbstractAsyncContextManager[AsyncSession]]
) -> AsyncIterator[TokenServices]:
    try:
        async with begin() as session:
            yield token_services(request.app.state.tokens, session, address_of(request))
    except AppError as refusal:
        if isinstance(refusal, OAuthError | BearerError) or refusal.kind is not Kind.UNAVAILABLE:
            raise
        raise ServerUnavailable(retry_after=refusal.retry_after) from refusal


async def _writing(
    request: Request, _made: Annotated[None, Depends(keys_made)]
) -> AsyncIterator[TokenServices]:
    async with _in_oauth_words(request, request.app.state.resources.database.transaction) as services:
        yield services


async def _reading(request: Request) -> AsyncIterator[TokenServices]:
    async with _in_oauth_words(request, request.app.state.resources.database.reading) as services:
        yield services


async def _asserted_client(
    request: Request, form: Form, _made: Annotated[None, Depends(keys_made)]
) -> Client | None:
    """The client that showed an assertion, which is spent first, whatever comes of the rest."""
    credentials = read_credentials(request.headers.get("authorization"), form)
    if credentials.assertion is None:
        return None
    async with _in_oauth_words(request, request.app.state.resources.database.transaction) as services:
        return await services.clients.authenticate(credentials, address_of(request))


async def _proven_key(request: Request, _made: Annotated[None, Depends(keys_made)]) -> str | None:
    """The thumbprint of the key whose proof came along; None without one. Raises InvalidDpopProof."""
    sent = request.headers.getlist("dpop")
    if not sent:
        return None
    try:
        return await spend_proof(request, sent)
    except ProofRefused:
        raise InvalidDpopProof from None


async def spend_proof(request: Request, sent: Sequence[str], token: str | None = None) -> str:
    """The thumbprint of the one proof's key, which is shown for the first time. Raises ProofRefused."""
    if len(sent) != 1:
        raise ProofRefused
    resources: AuthResources = request.app.state.resources
    place = f"{resources.settings.issuer}{request.url.path.removeprefix('/auth')}"
    proof = verify_proof(sent[0], Proven(request.method, place, resources.now(), token))
    async with _in_oauth_words(request, resources.database.transaction) as services:
        if not await services.clients.spend_proof(proof.name, proof.expires_at):
            raise ProofRefused
    return proof.thumbprint


def _for_pages(
    request: Request, session: Annotated[AsyncSession, Depends(writing_session, scope="function")]
) -> TokenServices:
    return token_services(request.app.state.tokens, session, address_of(request))


#: For the endpoints that programs call: refusals are OAuth's.
AssertedClient = Annotated[Client | None, Depends(_asserted_client)]
ProvenKey = Annotated[str | None, Depends(_proven_key)]
WritingTokens = Annotated[TokenServices, Depends(_writing, scope="function")]
ReadingTokens = Annotated[TokenServices, Depends(_reading, scope="function")]
#: For pages: refusals are pages.
PageTokens = Annotated[TokenServices, Depends(_for_pages)]


def end_grants_with_session(parts: TokenParts, kick: Callable[[], Awaitable[None]]) -> AfterSessionEnd:
    """Ends what hangs on a session, and queues the messages to the clients that took part in it."""

    async def act(session: AsyncSession, ended: SessionEnded) -> None:
        services = token_services(parts, session)
        if await services.logouts.note_end(ended):
            after_commit(session, kick)
        await services.grants.revoke_of_session(ended.session_id)

    return act


def end_grants_with_client(parts: TokenParts) -> AfterClientEnd:
    """Ends what was given to a client that is shut out."""

    async def act(session: AsyncSession, client_id: str) -> None:
        await token_services(parts, session).grants.revoke_with_client(client_id)

    return act


def end_grants_with_account(parts: TokenParts) -> AfterAccountChange:
    """Ends the grants of accounts that are disabled or whose credentials are reset."""

    async def act(session: AsyncSession, changed: AccountChanged) -> None:
        await token_services(parts, session).grants.revoke_with_account(changed)

    return act


def end_grants_with_proof(parts: TokenParts) -> AfterProofEnd:
    """Ends what clients were given by a proof that its owner withdraws."""

    async def act(session: AsyncSession, ended: ProofEnded) -> None:
        if ended.reason is ProofEndReason.WITHDRAWN:
            grants = token_services(parts, session).grants
            await grants.revoke_with_scope(ended.account_id, OpenIdScope.DN42, RevokeReason.PROOF_WITHDRAWN)

    return act


async def recheck_network(request: Request, form: Form) -> None:
    """Before a refresh the registry is asked about what the person proved, in no transaction."""
    token = form.get("refresh_token")
    if token is None:
        return
    resources: AuthResources = request.app.state.resources
    async with resources.database.reading() as session:
        account_id = await RefreshTokenRepository(session).find_account(digest_of(token), OpenIdScope.DN42)
    if account_id is not None:
        await rechecking(request.app, resources).of_account(account_id)


def tell_of_new_role(
    parts: TokenParts,
    sessions_of: Callable[[AsyncSession], SessionService],
    kick: Callable[[], Awaitable[None]],
) -> AfterAccountChange:
    """Lets clients forget whose role changed; they sign the person in again with the new one."""

    async def act(session: AsyncSession, changed: AccountChanged) -> None:
        if changed.change is not AccountChange.ROLE_CHANGED:
            return
        logouts = token_services(parts, session).logouts
        for row in await sessions_of(session).list(changed.account_id):
            ended = SessionEnded(row.id, row.account_id, EndReason.ROLE_CHANGED)
            if await logouts.note_end(ended):
                after_commit(session, kick)

    return act
