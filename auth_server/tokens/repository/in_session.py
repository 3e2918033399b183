"""Grants, refresh tokens and logouts to be told, in one session of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.accounts.models import Account
from auth_server.sessions.models import BrowserSession
from auth_server.tokens.models import BackchannelLogout, EndedToken, Grant, OauthCode, RefreshToken
from auth_server.tokens.schemas import Family, LiveAccount, LiveGrant, RefreshState, RevokeReason

# What every token costs is built once and asks for columns: building a statement and filling objects take
# longer than the database does.
_GRANTS, _TOKENS = (cast("Table", table.__table__) for table in (Grant, RefreshToken))
_GRANT = [getattr(Grant, name) for name in LiveGrant._fields]
_ACCOUNT = [getattr(Account, name) for name in LiveAccount._fields]
_STATE = [getattr(RefreshToken, name) for name in RefreshState._fields]
AT = bindparam("at", type_=Grant.expires_at.type)
ALIVE = (Grant.revoked_at.is_(None), Grant.expires_at > AT, Account.disabled_at.is_(None))
SESSION_LIVES = and_(
    BrowserSession.id == Grant.session_id,
    BrowserSession.ended_at.is_(None),
    BrowserSession.expires_at > AT,
)
_LIVE = (
    select(*_GRANT, *_ACCOUNT, BrowserSession.last_used_at)
    .join(Account, Account.id == Grant.account_id)
    .outerjoin(BrowserSession, SESSION_LIVES)
    .where(Grant.id == bindparam("ident"), *ALIVE)
)
# Whatever waits for the lock reads the row anew, so what is found is true until this transaction ends.
_LIVE_LOCKED = _LIVE.with_for_update(of=Grant)
_USED = update(_GRANTS).where(Grant.id == bindparam("ident")).values(code_consumed_at=bindparam("used_at"))
_TOKEN = select(*_STATE).where(RefreshToken.digest == bindparam("token"))
_TOKEN_LOCKED = (
    select(*_STATE, *_GRANT, *_ACCOUNT)
    .join(Grant, Grant.id == RefreshToken.grant_id)
    .join(Account, Account.id == Grant.account_id)
    .where(RefreshToken.digest == bindparam("token"), *ALIVE)
    .with_for_update(of=[RefreshToken, Grant])
)
_CLAIM = (
    update(_TOKENS)
    .where(RefreshToken.digest == bindparam("token"), RefreshToken.consumed_at.is_(None))
    .values(consumed_at=bindparam("used_at"), sealed_answer=bindparam("answer"))
    .returning(RefreshToken.digest)
)
_NEW_TOKEN = insert(_TOKENS)


def family_of(found: Sequence[Any] | None) -> Family | None:
    """A row of a grant's columns, its account's, and perhaps its session's last use."""
    if found is None:
        return None
    first, last = len(LiveGrant._fields), len(LiveGrant._fields) + len(LiveAccount._fields)
    return Family(LiveGrant(*found[:first]), LiveAccount(*found[first:last]), *found[last:])


def token_of(found: Sequence[Any] | None) -> tuple[RefreshState, Family] | None:
    """A row of a refresh token's columns, its grant's, and its account's."""
    if found is None:
        return None
    size = len(RefreshState._fields)
    family = family_of(found[size:])
    assert family is not None  # noqa: S101 - there is a row
    return RefreshState(*found[:size]), family


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

    async def find_live(self, ident: UUID, at: datetime) -> Family | None:
        """The grant with its account, unless it was revoked, is over, or the account is disabled."""
        return family_of((await self.session.execute(_LIVE, {"ident": ident, "at": at})).first())

    async def find_live_locked(self, ident: UUID, at: datetime) -> Family | None:
        """The same, and no other transaction changes the family before this one ends."""
        return family_of((await self.session.execute(_LIVE_LOCKED, {"ident": ident, "at": at})).first())

    async def find_enabled_account(self, ident: UUID) -> Account | None:
        """The account, unless it is disabled."""
        query = select(Account).where(Account.id == ident, Account.disabled_at.is_(None))
        return await self.session.scalar(query)

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
        await self.session.execute(_USED, {"ident": ident, "used_at": at})

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

    async def add(self, token: RefreshState, parent_digest: str | None) -> None:
        """Store a new token; at its parent's use, or at none where it is the first."""
        values = token._asdict() | {"parent_digest": parent_digest}
        await self.session.execute(_NEW_TOKEN, values)

    async def find(self, digest: str) -> RefreshState | None:
        """The token of this hash, as it is now."""
        found = (await self.session.execute(_TOKEN, {"token": digest})).first()
        return RefreshState(*found) if found else None

    async def find_locked(self, digest: str, at: datetime) -> tuple[RefreshState, Family] | None:
        """The token with its family while that is alive; neither changes before this transaction ends."""
        found = (await self.session.execute(_TOKEN_LOCKED, {"token": digest, "at": at})).first()
        return token_of(found)

    async def find_account(self, digest: str, scope: str) -> UUID | None:
        """Whose token this is, where it carries the scope."""
        query = select(Grant).join(RefreshToken, RefreshToken.grant_id == Grant.id)
        grant = await self.session.scalar(query.where(RefreshToken.digest == digest))
        return grant.account_id if grant is not None and scope in grant.scopes else None

    async def find_successor(self, digest: str) -> RefreshToken | None:
        """The token that the use of this one gave."""
        return await self.session.scalar(select(RefreshToken).where(RefreshToken.parent_digest == digest))

    async def claim(self, digest: str, at: datetime, sealed_answer: str) -> bool:
        """Use the token, keeping what its use gave; False for every caller but one."""
        values = {"token": digest, "used_at": at, "answer": sealed_answer}
        return (await self.session.execute(_CLAIM, values)).first() is not None


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
