"""What a request to the endpoints of tokens stands on: a transaction, a client, and the proof of a key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.clients.dependencies import Form, client_gate, sent_in
from auth_server.clients.errors import InvalidRequest, OAuthError, ServerUnavailable
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import Parameters, read_credentials
from auth_server.clients.schemas import OpenIdScope
from auth_server.ownership.dependencies import rechecking
from auth_server.resources import AuthResources
from auth_server.signing_keys.dependencies import keys_made
from auth_server.tokens.dependencies.parts import TokenParts, TokenServices, token_services
from auth_server.tokens.errors import BearerError, InvalidDpopProof, NonceNeeded, UseDpopNonce
from auth_server.tokens.repository import RefreshTokenRepository
from auth_server.tokens.rules import is_recent_nonce, nonce_of
from auth_server.tokens.schemas import Answer, TokenRequest
from auth_server.tokens.service import PlainExchange
from shared.kernel.errors import AppError, Kind
from shared.kernel.proofs import ProofRefused, Proven, read_unverified, verify_proof
from shared.kernel.recent import Unread
from shared.kernel.secrets import digest_of

NONCE_HEADER = "DPoP-Nonce"


async def writing_session(
    request: Request, _made: Annotated[None, Depends(keys_made)]
) -> AsyncIterator[AsyncSession]:
    """A transaction that writes, also for a GET: an authorization or a logout is one."""
    async with request.app.state.resources.database.transaction() as session:
        yield session


def address_of(request: Request) -> str:
    """Whom the request came from."""
    return request.client.host if request.client else ""


class _InOauthWords:
    """Around what may find something not there: clients are told `temporarily_unavailable` then."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is None or not isinstance(error, AppError) or isinstance(error, OAuthError | BearerError):
            return
        if error.kind is Kind.UNAVAILABLE:
            raise ServerUnavailable(retry_after=error.retry_after) from error


_IN_OAUTH_WORDS = _InOauthWords()


@asynccontextmanager
async def _services(
    request: Request, begin: Callable[[], AbstractAsyncContextManager[AsyncSession]]
) -> AsyncIterator[TokenServices]:
    with _IN_OAUTH_WORDS:
        async with begin() as session:
            yield token_services(request.app.state.tokens, session, address_of(request))


async def exchanged(request: Request, client: Client, asked: TokenRequest) -> Answer:
    """What the client is given: without a transaction in the plain case, else in one. Raises OAuthError."""
    plain: PlainExchange = request.app.state.plain_exchange
    with _IN_OAUTH_WORDS:
        given = await plain.exchange(client, asked)
    if not isinstance(given, TokenRequest):
        return given
    async with writing(request) as tokens:
        return await tokens.redemption.exchange(client, given)


def writing(request: Request) -> AbstractAsyncContextManager[TokenServices]:
    """A transaction that writes; nothing is asked of the database before the first statement."""
    return _services(request, request.app.state.resources.database.transaction)


def reading(request: Request) -> AbstractAsyncContextManager[TokenServices]:
    """A snapshot, under the same condition."""
    return _services(request, request.app.state.resources.database.reading)


async def authenticated(request: Request, form: Parameters) -> Client:
    """The client that proved itself. An assertion is spent first, whatever comes of the rest.

    Raises OAuthError.
    """
    state = request.app.state
    if not state.opened_keys.complete:
        await keys_made(request)
    sent = sent_in(request, b"authorization")
    if len(sent) > 1:
        raise InvalidRequest("Authenticate once: there are two Authorization headers.")
    credentials, address = read_credentials(sent[0] if sent else None, form), address_of(request)
    if credentials.assertion is not None:
        async with writing(request) as services:
            return await services.clients.authenticate(credentials, address)
    parts: TokenParts = state.tokens
    known = parts.resources.known_clients
    client = known.find(credentials.client_id, Unread.UNREAD)
    if client is Unread.UNREAD:
        async with known.turn(credentials.client_id):
            client = known.find(credentials.client_id, Unread.UNREAD)
            if client is Unread.UNREAD:
                async with reading(request) as services:
                    return await services.clients.authenticate(credentials, address)
    return client_gate(parts.resources, parts.failed_secrets).admit(client, credentials, address)


async def proven_key(request: Request) -> str | None:
    """The thumbprint of the key whose proof came along; None without one. Raises InvalidDpopProof."""
    sent = sent_in(request, b"dpop")
    if not sent:
        return None
    try:
        return await spend_proof(request, sent)
    except ProofRefused:
        raise InvalidDpopProof from None
    except NonceNeeded:
        raise UseDpopNonce from None


async def spend_proof(request: Request, sent: Sequence[str], token: str | None = None) -> str:
    """The thumbprint of the one proof's key, which is shown for the first time.

    Raises ProofRefused, or NonceNeeded where all is well but the nonce.
    """
    if len(sent) != 1:
        raise ProofRefused
    resources: AuthResources = request.app.state.resources
    place = f"{resources.settings.issuer}{request.url.path.removeprefix('/auth')}"
    proof = verify_proof(sent[0], Proven(request.method, place, resources.now(), token))
    if resources.settings.tokens.dpop_nonces:
        nonce = read_unverified(sent[0]).get("nonce")
        if not is_recent_nonce(nonce, _nonce_key(request), resources.now()):
            raise NonceNeeded
    async with writing(request) as services:
        if not await services.clients.spend_proof(proof.name, proof.expires_at):
            raise ProofRefused
    return proof.thumbprint


def nonce_headers(request: Request) -> dict[str, str]:
    """The nonce for the next proof of a client that proves a key (RFC 9449, section 8.2)."""
    resources: AuthResources = request.app.state.resources
    if not resources.settings.tokens.dpop_nonces or not sent_in(request, b"dpop"):
        return {}
    return {NONCE_HEADER: nonce_of(_nonce_key(request), resources.now())}


def _nonce_key(request: Request) -> bytes:
    """The same for every worker of the installation, so each knows the nonces of all."""
    key: bytes = request.app.state.opened_keys.get_seal().key
    return key


async def recheck_network(request: Request, client: Client, form: Parameters) -> None:
    """Before a refresh the registry is asked about what the person proved, in no transaction."""
    token = form.get("refresh_token")
    if token is None or OpenIdScope.DN42 not in client.scopes:
        return
    resources: AuthResources = request.app.state.resources
    async with resources.database.reading() as session:
        account_id = await RefreshTokenRepository(session).find_account(digest_of(token), OpenIdScope.DN42)
    if account_id is not None:
        await rechecking(request.app, resources).of_account(account_id)


async def _client(request: Request, form: Form) -> Client:
    return await authenticated(request, form)


async def _writing(request: Request) -> AsyncIterator[TokenServices]:
    async with writing(request) as services:
        yield services


def _for_pages(
    request: Request, session: Annotated[AsyncSession, Depends(writing_session, scope="function")]
) -> TokenServices:
    return token_services(request.app.state.tokens, session, address_of(request))


#: For the endpoints that programs call: refusals are OAuth's.
ProvenKey = Annotated[str | None, Depends(proven_key)]
AuthenticatedClient = Annotated[Client, Depends(_client)]
WritingTokens = Annotated[TokenServices, Depends(_writing, scope="function")]
#: For pages: refusals are pages.
PageTokens = Annotated[TokenServices, Depends(_for_pages)]
