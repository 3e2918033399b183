"""Sign-ins on their way: put once, taken once, kept in SQL where no other store is configured."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import delete

from control_server.operators.models import PortalLogin
from control_server.operators.schemas import Login, Purpose
from shared.database import Database
from shared.kernel.clock import Clock
from shared.kernel.secrets import digest_of


class LoginStore(Protocol):
    """Where sign-ins wait for their callback. A state is good in the store that made it, nowhere else."""

    async def put(self, login: Login) -> str:
        """Keep it until it expires; answers the `state` that finds it."""

    async def take(self, state: str) -> Login | None:
        """Remove it for good; None for every caller but one, and for one that is too old."""


@dataclass(frozen=True, slots=True)
class SqlLogins:
    """The table `portal_login_transactions`. Each act is a transaction of its own.

    So a state is spent before its code is looked at, whatever becomes of the code.
    """

    database: Database
    now: Clock
    tag: str = "sql"

    async def put(self, login: Login) -> str:
        """Insert it; answers its state."""
        state = f"{self.tag}-{secrets.token_urlsafe(32)}"
        async with self.database.transaction() as session:
            session.add(
                PortalLogin(
                    digest=digest_of(state),
                    browser=login.browser,
                    purpose=login.purpose,
                    nonce=login.nonce,
                    verifier=login.verifier,
                    next_page=login.next_page,
                    session_id=login.session_id,
                    created_at=login.created_at,
                    expires_at=login.expires_at,
                )
            )
        return state

    async def take(self, state: str) -> Login | None:
        """Delete it; None for every caller but one."""
        if not state.startswith(f"{self.tag}-"):
            return None
        statement = delete(PortalLogin).where(PortalLogin.digest == digest_of(state)).returning(PortalLogin)
        async with self.database.transaction() as session:
            row = await session.scalar(statement)
        if row is None or row.expires_at < self.now():
            return None
        return Login(
            browser=row.browser,
            purpose=Purpose(row.purpose),
            nonce=row.nonce,
            verifier=row.verifier,
            next_page=row.next_page,
            session_id=row.session_id,
            created_at=row.created_at,
            expires_at=row.expires_at,
        )
