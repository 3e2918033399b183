"""Portal sessions: begun by a link or by the sign-in service, found, proved anew, ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from control_server.audit.service import Audit
from control_server.operators.errors import LogoutTokenRefused, SessionLinkRefused, StepUpRefused
from control_server.operators.models import PortalSession, SessionLink
from control_server.operators.repository import OperatorRepository
from control_server.operators.schemas import (
    Browser,
    EndedSession,
    Identity,
    LogoutNotice,
    Method,
    SignedInBrowser,
)
from control_server.settings import SessionSettings
from shared.kernel.clock import Clock
from shared.kernel.principal import SYSTEM, Principal, PrincipalKind, Role
from shared.kernel.secrets import digest_of, identify, mint

#: Who a one-time link signs in: whoever has the host's own shell.
HOST_OPERATOR = Principal.of_role("person:host-operator", PrincipalKind.PERSON, "host operator", Role.ADMIN)
#: A session's last use is written at most this often.
_TOUCH_EVERY = timedelta(minutes=5)


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
        return self._begin(self._row(HOST_OPERATOR, Method.LINK, browser))

    def begin_for(self, identity: Identity, browser: Browser) -> str:
        """Begin a session for whom the sign-in service named; answers the secret for the cookie."""
        row = self._row(_person(identity), Method.OIDC, browser)
        _hang_on(row, identity)
        return self._begin(row)

    async def find(self, cookie: str) -> SignedInBrowser | None:
        """Whose browser this is."""
        return self._good(await self.operators.find_live(digest_of(cookie), self.now()))

    async def find_by_id(self, ident: str) -> SignedInBrowser | None:
        """The session of this id, unless it is over."""
        return self._good(await self.operators.find_live_by_id(ident, self.now()))

    async def touch(self, ident: str) -> None:
        """Write that the session is in use."""
        await self.operators.touch(ident, self.now())

    async def step_up(self, browser: SignedInBrowser, identity: Identity) -> str:
        """The same person proved anew who they are; answers the new secret. Raises StepUpRefused."""
        secret = mint("rls")
        values: dict[str, object] = {
            "digest": secret.digest,
            "name": identity.name,
            "role": identity.role,
            "sid": identity.sid,
            "grant_id": identity.grant_id,
            "id_token": identity.id_token,
            "stepped_up_at": identity.auth_time,
        }
        if not await self.operators.claim_step_up(browser.session_id, values):
            raise StepUpRefused
        self.audit.note(browser.principal, "session.stepped_up", ("session", browser.session_id))
        return secret.text

    async def end(self, cookie: str) -> EndedSession | None:
        """Sign the browser out; None when it was not signed in."""
        row = await self.operators.end(digest_of(cookie), self.now())
        if row is None:
            return None
        self._note_end(row, "signed_out")
        return EndedSession(row.id_token)

    async def end_named(self, notice: LogoutNotice) -> None:
        """End what hangs on a session that ended there. Raises LogoutTokenRefused for one obeyed before."""
        if not await self.operators.claim_logout_token(notice):
            raise LogoutTokenRefused
        for row in await self.operators.end_named(notice, self.now()):
            self._note_end(row, "signed_out_elsewhere")

    def _row(self, who: Principal, method: Method, browser: Browser) -> PortalSession:
        at = self.now()
        return PortalSession(
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
            stepped_up_at=at,
        )

    def _begin(self, row: PortalSession) -> str:
        secret = mint("rls")
        row.id, row.digest = secret.id, secret.digest
        self.operators.add(row)
        self.audit.note(_owner(row), "session.began", ("session", row.id), after={"method": row.method})
        return secret.text

    def _good(self, row: PortalSession | None) -> SignedInBrowser | None:
        if row is None or self.now() - row.last_used_at > self.settings.idle:
            return None
        return SignedInBrowser(
            session_id=row.id,
            principal=_owner(row),
            method=Method(row.method),
            sub=row.sub,
            stepped_up_at=row.stepped_up_at,
            use_is_due=self.now() - row.last_used_at > _TOUCH_EVERY,
        )

    def _note_end(self, row: PortalSession, reason: str) -> None:
        self.audit.note(_owner(row), "session.ended", ("session", row.id), after={"reason": reason})


def _person(identity: Identity) -> Principal:
    return Principal.of_role(f"person:{identity.sub}", PrincipalKind.PERSON, identity.name, identity.role)


def _owner(row: PortalSession) -> Principal:
    return Principal.of_role(row.principal_id, PrincipalKind(row.principal_kind), row.name, Role(row.role))


def _hang_on(row: PortalSession, identity: Identity) -> None:
    row.sub, row.sid, row.grant_id = identity.sub, identity.sid, identity.grant_id
    row.id_token = identity.id_token
    row.stepped_up_at = identity.auth_time
