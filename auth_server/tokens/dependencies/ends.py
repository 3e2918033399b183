"""What ends with sessions, accounts, clients and proofs, inside the transaction that ends them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.dependencies import AfterAccountChange
from auth_server.accounts.schemas import AccountChange, AccountChanged
from auth_server.clients.dependencies import AfterClientEnd
from auth_server.clients.schemas import OpenIdScope
from auth_server.ownership.dependencies import AfterProofEnd
from auth_server.ownership.schemas import EndReason as ProofEndReason
from auth_server.ownership.schemas import ProofEnded
from auth_server.sessions.dependencies import AfterSessionEnd
from auth_server.sessions.schemas import EndReason, SessionEnded
from auth_server.sessions.service import SessionService
from auth_server.tokens.dependencies.parts import TokenParts, token_services
from auth_server.tokens.schemas import RevokeReason
from shared.database import after_commit


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
