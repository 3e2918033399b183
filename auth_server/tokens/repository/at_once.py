"""A code used, and a refresh token followed by the next, in one statement each: PostgreSQL only.

Each locks what the transactions of the session's repository lock, in the same order, and changes nothing
unless all is as the plain case has it. What is found nowhere here may be found there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, cast
from uuid import UUID

from sqlalchemy import Boolean, Table, bindparam, func, insert, select, update

from auth_server.accounts.models import Account
from auth_server.sessions.models import BrowserSession
from auth_server.tokens.models import Grant, RefreshToken
from auth_server.tokens.repository.in_session import ALIVE, AT, SESSION_LIVES, family_of, token_of
from auth_server.tokens.schemas import Family, LiveAccount, LiveGrant, RefreshState
from shared.database import Direct

_GRANTS, _TOKENS = (cast("Table", table.__table__) for table in (Grant, RefreshToken))
_GRANT = [getattr(Grant, name).label(f"grant_{name}") for name in LiveGrant._fields]
_ACCOUNT = [getattr(Account, name).label(f"account_{name}") for name in LiveAccount._fields]
_STATE = [getattr(RefreshToken, name).label(f"token_{name}") for name in RefreshState._fields]
_DIGEST, _KEY = RefreshToken.digest.type, RefreshToken.key_thumbprint.type
_INSTANT = Grant.expires_at.type

_FAMILY = (
    select(*_GRANT, *_ACCOUNT, BrowserSession.last_used_at)
    .join(Account, Account.id == Grant.account_id)
    .join(BrowserSession, SESSION_LIVES)
    .where(Grant.id == bindparam("ident"), *ALIVE)
    .where(BrowserSession.last_used_at >= bindparam("used_since", type_=_INSTANT))
    .with_for_update(of=Grant)
    .cte("family")
)
_USED = update(_GRANTS).where(_GRANTS.c.id == _FAMILY.c.grant_id).values(code_consumed_at=AT).cte("used")
_GIVEN = (
    insert(_TOKENS)
    .from_select(
        ["digest", "grant_id", "key_thumbprint", "created_at", "expires_at"],
        select(
            bindparam("token", type_=_DIGEST),
            _FAMILY.c.grant_id,
            bindparam("key", type_=_KEY),
            AT,
            func.least(bindparam("idle_end", type_=_INSTANT), _FAMILY.c.grant_expires_at),
        ).where(_FAMILY.c.grant_offline, bindparam("wanted", type_=Boolean())),
    )
    .cte("given")
)
_USE_CODE = select(_FAMILY).add_cte(_USED, _GIVEN)

_TOKEN = (
    select(*_STATE, *_GRANT, *_ACCOUNT)
    .join(Grant, Grant.id == RefreshToken.grant_id)
    .join(Account, Account.id == Grant.account_id)
    .where(RefreshToken.digest == bindparam("token"), *ALIVE)
)
_UNUSED = (
    select(RefreshToken.digest, RefreshToken.grant_id)
    .join(Grant, Grant.id == RefreshToken.grant_id)
    .join(Account, Account.id == Grant.account_id)
    .where(RefreshToken.digest == bindparam("token"), *ALIVE)
    .where(RefreshToken.consumed_at.is_(None), RefreshToken.expires_at > AT)
    # What an answer tells of the account, as it was told; of a grant nothing that is told ever changes.
    .where(*(getattr(Account, name) == bindparam(f"account_{name}") for name in LiveAccount._fields))
    .with_for_update(of=[RefreshToken, Grant])
    .cte("unused")
)
_CLAIMED = (
    update(_TOKENS)
    .where(_TOKENS.c.digest == _UNUSED.c.digest)
    .values(consumed_at=AT, sealed_answer=bindparam("answer"))
    .returning(_TOKENS.c.digest, _TOKENS.c.grant_id)
    .cte("claimed")
)
_NEXT = (
    insert(_TOKENS)
    .from_select(
        ["digest", "grant_id", "parent_digest", "key_thumbprint", "created_at", "expires_at"],
        select(
            bindparam("next_token", type_=_DIGEST),
            _CLAIMED.c.grant_id,
            _CLAIMED.c.digest,
            bindparam("key", type_=_KEY),
            AT,
            bindparam("ends", type_=_INSTANT),
        ),
    )
    .cte("next")
)
_FOLLOW = select(_CLAIMED.c.digest).add_cte(_NEXT)


class FirstToken(NamedTuple):
    """The refresh token that a family gets where it outlives its session; it ends with the family at last."""

    digest: str
    key_thumbprint: str | None
    idle_end: datetime
    #: Whether the client refreshes at all.
    wanted: bool

    def stored(self, grant: LiveGrant, at: datetime) -> RefreshState:
        """The row of this time."""
        ends = min(self.idle_end, grant.expires_at)
        return RefreshState(self.digest, grant.id, self.key_thumbprint, at, ends, None, None)


class NextToken(NamedTuple):
    """The refresh token that follows on another, with the answer that both are part of."""

    token: RefreshState
    sealed_answer: str
    #: The account as the answer tells of it.
    account: LiveAccount


@dataclass(frozen=True, slots=True)
class AtOnceRepository:
    """Families and refresh tokens by statements that are a transaction each."""

    direct: Direct

    async def use_code(
        self, ident: UUID, at: datetime, used_since: datetime, first: FirstToken
    ) -> Family | None:
        """The family whose code is used now, with its first refresh token stored.

        None, and nothing is changed, where it is not alive or its session was not written to be in use.
        """
        values = {
            "ident": ident,
            "at": at,
            "used_since": used_since,
            "token": first.digest,
            "key": first.key_thumbprint,
            "idle_end": first.idle_end,
            "wanted": first.wanted,
        }
        return family_of(await self.direct.first(_USE_CODE, values))

    async def find_token(self, digest: str, at: datetime) -> tuple[RefreshState, Family] | None:
        """The token with its family while that is alive, as of now and no longer."""
        return token_of(await self.direct.first(_TOKEN, {"token": digest, "at": at}))

    async def follow(self, digest: str, at: datetime, following: NextToken) -> bool:
        """Use the token and store the one that follows it; False for every caller but one.

        False, and nothing is changed, also where the token has expired, its family is not alive any more, or
        its account is not as it is said to be.
        """
        values = {
            "token": digest,
            "at": at,
            "answer": following.sealed_answer,
            "next_token": following.token.digest,
            "key": following.token.key_thumbprint,
            "ends": following.token.expires_at,
            **{f"account_{name}": value for name, value in following.account._asdict().items()},
        }
        return await self.direct.first(_FOLLOW, values) is not None
