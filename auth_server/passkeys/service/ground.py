"""What every ceremony stands on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from webauthn.helpers import generate_challenge

from auth_server.accounts.service import AccountService
from auth_server.audit.service import Audit
from auth_server.captcha.service import Captcha
from auth_server.passkeys.errors import CeremonyGone
from auth_server.passkeys.repository import PasskeyRepository
from auth_server.passkeys.schemas import Ceremony, CeremonyKind, RelyingParty
from auth_server.passkeys.store import CeremonyStore
from auth_server.sessions import rules as session_rules
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import SessionService
from auth_server.settings import SignInSettings
from shared.cache.throttling import SignInThrottle
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind

#: Life of a challenge; the browser is told the same.
CEREMONY_LIFE = timedelta(minutes=5)
#: Who fails to prove who they are.
ANONYMOUS = Principal(id="anonymous", kind=PrincipalKind.PERSON, name="anonymous")


@dataclass(frozen=True, slots=True)
class Work:
    """What one transaction can reach."""

    accounts: AccountService
    sessions: SessionService
    passkeys: PasskeyRepository
    audit: Audit


@dataclass(frozen=True, slots=True)
class Visitor:
    """The browser that asks: what is noted of it, what binds a ceremony to it, and its session's cookie."""

    browser: Browser
    key: str
    cookie: str | None

    @property
    def place(self) -> str:
        """The subject that failures from this address count against."""
        return f"address:{session_rules.place_of(self.browser.address)}"


@dataclass(frozen=True, slots=True)
class Ground:
    """Ceremonies are taken before the transaction of their answer begins, so each use case opens its own."""

    ceremonies: CeremonyStore
    party: RelyingParty
    throttle: SignInThrottle
    captcha: Captcha
    settings: SignInSettings
    now: Clock
    #: Opens a transaction that commits at the end.
    open: Callable[[], AbstractAsyncContextManager[Work]]
    #: Opens a snapshot that cannot write.
    look: Callable[[], AbstractAsyncContextManager[Work]]

    async def begin(self, kind: CeremonyKind, visitor: Visitor, subject: dict[str, Any]) -> tuple[str, bytes]:
        """A handle and a challenge for this browser and purpose."""
        ceremony = Ceremony(
            kind=kind,
            browser=visitor.key,
            challenge=generate_challenge(),
            expires_at=self.now() + CEREMONY_LIFE,
            subject=subject,
        )
        return await self.ceremonies.put(ceremony), ceremony.challenge

    async def take(self, handle: str, kind: CeremonyKind, visitor: Visitor) -> Ceremony:
        """The ceremony, which is gone from here on, whatever the answer is worth. Raises CeremonyGone."""
        ceremony = await self.ceremonies.take(handle)
        if ceremony is None or ceremony.kind is not kind or ceremony.browser != visitor.key:
            raise CeremonyGone
        return ceremony
