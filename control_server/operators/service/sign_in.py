"""Signing in by the sign-in service: out with a transaction, back with a code, once, in the same browser."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from control_server.operators.errors import SignInRefused, StepUpRefused, TokenNotGood
from control_server.operators.rules.freshness import proves_anew
from control_server.operators.rules.places import safe_next
from control_server.operators.rules.tokens import (
    Expected,
    kid_of,
    verify_access_token,
    verify_id_token,
    verify_logout_token,
)
from control_server.operators.schemas import (
    Browser,
    Callback,
    EndedSession,
    Identity,
    Login,
    Purpose,
    SignedInBrowser,
)
from control_server.operators.service.provider import Provider, declined
from control_server.operators.service.sessions import OperatorService
from control_server.operators.store import LoginStore
from shared.kernel.clock import Clock
from shared.kernel.principal import Role
from shared.kernel.secrets import digest_of, matches

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a browser that came back goes on to, with which cookie."""

    cookie: str
    next_page: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """The portal's side of the protocol. The network is never asked inside a transaction."""

    provider: Provider
    logins: LoginStore
    #: Sessions inside a transaction of their own.
    sessions: Callable[[], AbstractAsyncContextManager[OperatorService]]
    now: Clock

    async def begin(
        self, browser_secret: str, next_page: str, stepping: SignedInBrowser | None = None
    ) -> str:
        """Remember the sign-in; answers where to send the browser. Raises AuthAway or StepUpRefused."""
        if stepping is not None and stepping.sub is None:
            raise StepUpRefused
        await self.provider.check_reachable()
        login = Login(
            browser=digest_of(browser_secret),
            purpose=Purpose.STEP_UP if stepping else Purpose.SIGN_IN,
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            next_page=safe_next(next_page),
            session_id=stepping.session_id if stepping else None,
            created_at=self.now(),
            expires_at=self.now() + self.provider.settings.sign_in.transaction_life,
        )
        state = await self.logins.put(login)
        return self.provider.authorization_url(state, login.nonce, login.verifier, anew=stepping is not None)

    async def finish(self, callback: Callback, browser_secret: str, cookie: str, browser: Browser) -> Arrival:
        """Spend the transaction and the code; the old session of this browser ends.

        Raises SignInRefused, SignInDeclined, StepUpRefused or AuthAway.
        """
        login = await self.logins.take(callback.state)
        if login is None or not matches(browser_secret, login.browser):
            raise SignInRefused
        if callback.iss != self.provider.settings.issuer:
            raise SignInRefused
        if callback.error or not callback.code:
            raise declined(callback.error)
        identity = await self._identify(callback.code, login)
        async with self.sessions() as sessions:
            if login.session_id is not None:
                return await self._step_up(sessions, identity, login)
            await sessions.end(cookie)
            return Arrival(sessions.begin_for(identity, browser), login.next_page)

    def sign_out_address(self, ended: EndedSession | None) -> str:
        """Where a browser that signed out goes on to."""
        if ended is None or ended.id_token is None:
            return "/sign-in"
        return self.provider.logout_url(ended.id_token)

    async def end_by_notice(self, logout_token: str) -> None:
        """Obey a back-channel logout, once. Raises LogoutTokenRefused or AuthAway."""
        keys = await self.provider.keys(_kid_or_none(logout_token))
        notice = verify_logout_token(logout_token, keys, self._expected())
        async with self.sessions() as sessions:
            await sessions.end_named(notice)

    async def _identify(self, code: str, login: Login) -> Identity:
        redeemed = await self.provider.redeem(code, login.verifier)
        issuer = self.provider.settings.issuer
        try:
            keys = await self.provider.keys(kid_of(redeemed.id_token))
            claims = verify_id_token(redeemed.id_token, keys, self._expected(), login.nonce)
            keys = await self.provider.keys(kid_of(redeemed.access_token))
            grant = verify_access_token(redeemed.access_token, keys, Expected(issuer, issuer, self.now()))
            return Identity(
                sub=claims["sub"],
                name=str(claims.get("preferred_username") or claims.get("name") or claims["sub"]),
                role=Role(claims["role"]),
                auth_time=datetime.fromtimestamp(claims["auth_time"], UTC),
                sid=claims.get("sid"),
                grant_id=grant.get("grant_id"),
                id_token=redeemed.id_token,
            )
        except (TokenNotGood, KeyError, ValueError, TypeError) as error:
            log.warning("id_token_refused", reason=type(error).__name__)
            raise SignInRefused from error

    async def _step_up(self, sessions: OperatorService, identity: Identity, login: Login) -> Arrival:
        found = await sessions.find_by_id(login.session_id or "")
        if found is None or not proves_anew(identity, login, found.sub):
            raise StepUpRefused
        return Arrival(await sessions.step_up(found, identity), login.next_page)

    def _expected(self) -> Expected:
        settings = self.provider.settings
        return Expected(settings.issuer, settings.sign_in.client_id, self.now())


def _kid_or_none(text: str) -> str | None:
    try:
        return kid_of(text)
    except TokenNotGood:
        return None
