"""Signing in to the portal, and who a browser is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.audit.service import Audit
from control_server.operators.errors import SessionLinkRefused
from control_server.operators.models import PortalSession, SessionLink
from control_server.operators.repository import OperatorRepository
from control_server.settings import SessionSettings
from shared.kernel.clock import Clock
from shared.kernel.principal import SYSTEM, Principal, PrincipalKind, Role
from shared.kernel.secrets import digest_of, identify, mint

#: Who a one-time link signs in: whoever has the host's own shell.
HOST_OPERATOR = Principal.of_role("person:host-operator", PrincipalKind.PERSON, "host operator", Role.ADMIN)
#: A session's last use is written at most this often.
_TOUCH_EVERY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Browser:
    """What is noted of the browser of a session."""

    user_agent: str
    address: str


@dataclass(frozen=True, slots=True)
class OperatorService:
    """Links and sessions as one database session sees them."""

    operators: OperatorRepository
    audit: Audit
    settings: SessionSettings
    now: Clock

    async def make_link(self) -> str:
        """Mint a one-time link's secret; good for minutes, once."""
        secret = mint("rls")
        at = self.now()
        self.operators.add(
            SessionLink(
                id=secret.id,
                digest=secret.digest,
                created_at=at,
                expires_at=at + self.settings.link_life,
                consumed_at=None,
            )
        )
        self.audit.note(SYSTEM, "session_link.created", ("session_link", secret.id))
        return secret.text

    async def follow_link(self, text: str, browser: Browser) -> str:
        """Sign the host's operator in; answers the secret for the cookie. Raises SessionLinkRefused."""
        link = await self.operators.claim_link(digest_of(text), self.now())
        if link is None:
            ident = identify(text, "rls") or "unknown"
            self.audit.note(SYSTEM, "session_link.refused", ("session_link", ident))
            raise SessionLinkRefused
        self.audit.note(HOST_OPERATOR, "session_link.used", ("session_link", link.id))
        return self.begin(HOST_OPERATOR, "link", browser)

    def begin(self, who: Principal, method: str, browser: Browser) -> str:
        """Begin a portal session; answers the secret for the cookie."""
        secret = mint("rls")
        at = self.now()
        self.operators.add(
            PortalSession(
                id=secret.id,
                digest=secret.digest,
                principal_id=who.id,
                principal_kind=who.kind,
                name=who.name,
                role=who.role or Role.VIEWER,
                method=method,
                user_agent=browser.user_agent[:300],
                from_address=browser.address,
                created_at=at,
                last_used_at=at,
                expires_at=at + self.settings.absolute,
                ended_at=None,
            )
        )
        self.audit.note(who, "session.began", ("session", secret.id), after={"method": method})
        return secret.text

    async def find(self, cookie: str) -> tuple[Principal, bool] | None:
        """Whose browser this is, and whether its use is due to be written."""
        row = await self.operators.find_live(digest_of(cookie), self.now())
        if row is None or self.now() - row.last_used_at > self.settings.idle:
            return None
        who = Principal.of_role(row.principal_id, PrincipalKind(row.principal_kind), row.name, Role(row.role))
        return who, self.now() - row.last_used_at > _TOUCH_EVERY

    async def touch(self, cookie: str) -> None:
        """Write that the session is in use."""
        row = await self.operators.find_live(digest_of(cookie), self.now())
        if row is not None:
            await self.operators.touch(row.id, self.now())

    async def end(self, cookie: str) -> None:
        """Sign the browser out."""
        row = await self.operators.end(digest_of(cookie), self.now())
        if row is not None:
            who = Principal(id=row.principal_id, kind=PrincipalKind(row.principal_kind), name=row.name)
            self.audit.note(who, "session.ended", ("session", row.id))
