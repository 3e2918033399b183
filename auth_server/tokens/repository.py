"""SQL of grants, refresh tokens and logouts to be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.models import Account
from auth_server.tokens.models import BackchannelLogout, EndedToken, Grant, OauthCode, RefreshToken
from auth_server.tokens.schemas import RevokeReason


@dataclass(frozen=True, slots=True)
class GrantRepository:
    """Grants in one session of the database."""

    session: AsyncSession

    def add(self, grant: Grant) -> None:
        """Store a new grant."""
        self.session.add(grant)

    async def flush(self) -> None:
        """Write what was added, for rows that point to it."""
        await self.session.flush()

    async def find_live(self, ident: UUID, at: datetime) -> tuple[Grant, Account] | None:
        """The grant with its account, unless it was revoked, is over, or the account is disabled."""
        query = (
            select(Grant, Account)
            .join(Account, Account.id == Grant.account_id)
            .where(Grant.id == ident, Grant.revoked_at.is_(None), Grant.expires_at > at)
            .where(Account.disabled_at.is_(None))
            .execution_options(populate_existing=True)
        )
        found = (await self.session.execute(query)).first()
        return (found[0], found[1]) if found else None

    async def find_enabled_account(self, ident: UUID) -> Account | None:
        """The account, unless it is disabled."""
        query = select(Account).where(Account.id == ident, Account.disabled_at.is_(None))
        return await self.session.scalar(query)

    async def lock(self, ident: UUID) -> None:
        """Let no other transaction change the family before this one ends."""
        await self.session.execute(select(Grant.id).where(Grant.id == ident).with_for_update())

    async def find_of_spent_code(self, digest: str, client_id: str) -> Grant | None:
        """The client's grant whose code of this hash was used, also when the code itself is forgotten."""
        return await self.session.scalar(
            select(Grant).where(
                Grant.code_digest == digest,
                Grant.client_id == client_id,
                Grant.code_consumed_at.is_not(None),
            )
        )

    async def note_code_used(self, ident: UUID, at: datetime) -> None:
        """Remember on the family that its code was used."""
        await self.session.execute(update(Grant).where(Grant.id == ident).values(code_consumed_at=at))

    async def revoke(
        self, which: Sequence[ColumnElement[bool]], at: datetime, reason: RevokeReason
    ) -> Sequence[Grant]:
        """End families for good; answers those that were alive."""
        statement = (
            update(Grant)
            .where(Grant.revoked_at.is_(None), *which)
            .values(revoked_at=at, revoke_reason=reason)
            .returning(Grant)
        )
        return (await self.session.scalars(statement)).all()

    async def revoke_one(self, ident: UUID, at: datetime, reason: RevokeReason) -> Sequence[Grant]:
        """End this family."""
        return await self.revoke([Grant.id == ident], at, reason)

    async def revoke_of_client(
        self, account_id: UUID, client_id: str, at: datetime, reason: RevokeReason
    ) -> Sequence[Grant]:
        """End everything that this person gave this client."""
        return await self.revoke([Grant.account_id == account_id, Grant.client_id == client_id], at, reason)

    async def revoke_with_client(self, client_id: str, at: datetime, reason: RevokeReason) -> Sequence[Grant]:
        """End everything that anybody gave this client."""
        return await self.revoke([Grant.client_id == client_id], at, reason)

    async def revoke_of_session(
        self, session_id: UUID, at: datetime, reason: RevokeReason
    ) -> Sequence[Grant]:
        """End what hangs on the session: what is not offline, and codes that nobody redeemed yet."""
        hangs = or_(Grant.offline.is_(False), Grant.code_consumed_at.is_(None))
        return await self.revoke([Grant.session_id == session_id, hangs], at, reason)

    async def revoke_of_account(
        self, account_id: UUID, kept_session: UUID | None, at: datetime, reason: RevokeReason
    ) -> Sequence[Grant]:
        """End everything of the account, save what was given in one session."""
        which: list[ColumnElement[bool]] = [Grant.account_id == account_id]
        if kept_session is not None:
            which.append(Grant.session_id != kept_session)
        return await self.revoke(which, at, reason)

    async def list_live_of_account(self, account_id: UUID, at: datetime) -> Sequence[Grant]:
        """The person's families that are not over, newest first."""
        query = (
            select(Grant)
            .where(Grant.account_id == account_id, Grant.revoked_at.is_(None), Grant.expires_at > at)
            .order_by(Grant.created_at.desc())
        )
        return (await self.session.scalars(query)).all()

    async def list_ended_of_account(
        self, account_id: UUID, reasons: Sequence[RevokeReason], since: datetime
    ) -> Sequence[Grant]:
        """The person's families that ended for one of these reasons, last ended first."""
        query = (
            select(Grant)
            .where(Grant.account_id == account_id, Grant.revoke_reason.in_(reasons))
            .where(Grant.revoked_at > since)
            .order_by(Grant.revoked_at.desc())
        )
        return (await self.session.scalars(query)).all()

    async def list_clients_of_session(self, session_id: UUID) -> Sequence[str]:
        """The clients that took part in the session."""
        query = select(Grant.client_id).where(Grant.session_id == session_id)
        return (await self.session.scalars(query.distinct().order_by(Grant.client_id))).all()

    async def forget_answers_before(self, at: datetime) -> None:
        """Drop answers that nobody may ask for again."""
        await self.session.execute(
            update(RefreshToken)
            .where(RefreshToken.sealed_answer.is_not(None), RefreshToken.consumed_at < at)
            .values(sealed_answer=None)
        )

    async def forget_before(self, at: datetime) -> None:
        """Delete families that were over before this instant, with their refresh tokens and codes."""
        over = select(Grant.id).where(Grant.expires_at < at)
        await self.session.execute(delete(RefreshToken).where(RefreshToken.grant_id.in_(over)))
        await self.session.execute(delete(OauthCode).where(OauthCode.grant_id.in_(over)))
        await self.session.execute(delete(Grant).where(Grant.expires_at < at))


@dataclass(frozen=True, slots=True)
class RefreshTokenRepository:
    """Refresh tokens in one session of the database."""

    session: AsyncSession

    def add(self, row: RefreshToken) -> None:
        """Store a new token."""
        self.session.add(row)

    async def find(self, digest: str) -> RefreshToken | None:
        """The token of this hash, as it is now."""
        query = select(RefreshToken).where(RefreshToken.digest == digest)
        return await self.session.scalar(query.execution_options(populate_existing=True))

    async def find_account(self, digest: str, scope: str) -> UUID | None:
        """Whose token this is, where it carries the scope."""
        query = select(Grant).join(RefreshToken, RefreshToken.grant_id == Grant.id)
        grant = await self.session.scalar(query.where(RefreshToken.digest == digest))
        return grant.account_id if grant is not None and scope in grant.scopes else None

    async def find_successor(self, digest: str) -> RefreshToken | None:
        """The token that the use of this one gave."""
        return await self.session.scalar(select(RefreshToken).where(RefreshToken.parent_digest == digest))

    async def claim(self, digest: str, at: datetime) -> bool:
        """Use the token; False for every caller but one, and for all where its family is revoked."""
        alive = select(Grant.id).where(Grant.revoked_at.is_(None))
        statement = (
            update(RefreshToken)
            .where(RefreshToken.digest == digest, RefreshToken.consumed_at.is_(None))
            .where(RefreshToken.grant_id.in_(alive))
            .values(consumed_at=at)
            .returning(RefreshToken.digest)
        )
        return await self.session.scalar(statement) is not None

    async def keep_answer(self, digest: str, sealed: str) -> None:
        """Keep what the use of the token gave."""
        await self.session.execute(
            update(RefreshToken).where(RefreshToken.digest == digest).values(sealed_answer=sealed)
        )


@dataclass(frozen=True, slots=True)
class EndedTokenRepository:
    """Access tokens of services that ended before their time."""

    session: AsyncSession

    async def add(self, jti: str, expires_at: datetime) -> None:
        """The token of this id is no longer good; twice changes nothing."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        row = {"jti": jti, "expires_at": expires_at}
        await self.session.execute(insert(EndedToken).values(row).on_conflict_do_nothing())

    async def has(self, jti: str) -> bool:
        """Whether the token of this id ended."""
        return await self.session.get(EndedToken, jti) is not None

    async def forget_before(self, at: datetime) -> None:
        """Delete those that have expired anyhow."""
        await self.session.execute(delete(EndedToken).where(EndedToken.expires_at < at))


@dataclass(frozen=True, slots=True)
class LogoutRepository:
    """Logouts that clients are still to be told of."""

    session: AsyncSession

    def add(self, row: BackchannelLogout) -> None:
        """Store one to be told."""
        self.session.add(row)

    async def claim_due(self, at: datetime, pause: timedelta, limit: int) -> Sequence[BackchannelLogout]:
        """Take what is due for one attempt; others see it again after the pause only."""
        due = (
            select(BackchannelLogout.id)
            .where(BackchannelLogout.due_at <= at)
            .order_by(BackchannelLogout.due_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        statement = (
            update(BackchannelLogout)
            .where(BackchannelLogout.id.in_(due))
            .values(attempts=BackchannelLogout.attempts + 1, due_at=at + pause)
            .returning(BackchannelLogout)
        )
        return (await self.session.scalars(statement)).all()

    async def postpone(self, ident: UUID, until: datetime) -> None:
        """Ask this client again then."""
        statement = update(BackchannelLogout).where(BackchannelLogout.id == ident).values(due_at=until)
        await self.session.execute(statement)

    async def forget(self, idents: Sequence[UUID]) -> None:
        """These clients know, or will not be told again."""
        await self.session.execute(delete(BackchannelLogout).where(BackchannelLogout.id.in_(idents)))
