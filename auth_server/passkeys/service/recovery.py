"""Recovery codes: made in a fresh session, shown once, each good for one sign-in."""

from __future__ import annotations

from dataclasses import dataclass

from auth_server.accounts.models import Account
from auth_server.accounts.rules import fold_name
from auth_server.accounts.service import new_account_id, principal_of
from auth_server.passkeys import rules
from auth_server.passkeys.errors import RecoveryRefused
from auth_server.passkeys.models import RecoveryCode
from auth_server.passkeys.schemas import RecoveryAttempt
from auth_server.passkeys.service.ground import ANONYMOUS, Ground, Visitor, Work
from auth_server.passkeys.service.hashing import SlowHashes
from auth_server.sessions.errors import StepUpNeeded
from auth_server.sessions.rules import is_fresh
from auth_server.sessions.schemas import SignedIn
from auth_server.sessions.service import RECOVERY_CODE
from shared.kernel.ids import new_uuid, short_id

_CODES = 10


@dataclass(frozen=True, slots=True)
class Recovery:
    """The way in without a passkey."""

    ground: Ground
    hashes: SlowHashes

    async def make_codes(self, signed_in: SignedIn) -> list[str]:
        """Fresh codes in place of all earlier ones. Raises StepUpNeeded or HashingBusy."""
        if not is_fresh(signed_in.stepped_up_at, self.ground.now()):
            raise StepUpNeeded
        selectors: set[str] = set()
        while len(selectors) < _CODES:
            selectors.add(short_id(4))
        codes = [(selector, short_id(12)) for selector in sorted(selectors)]
        digests = await self.hashes.hash_all([secret for _, secret in codes])
        rows = [
            RecoveryCode(
                id=new_uuid(),
                account_id=signed_in.account_id,
                selector=selector,
                hash=digest,
                created_at=self.ground.now(),
                used_at=None,
            )
            for (selector, _), digest in zip(codes, digests, strict=True)
        ]
        async with self.ground.open() as work:
            await work.accounts.lock(signed_in.account_id)
            await work.passkeys.replace_codes(signed_in.account_id, rows)
            about = ("account", str(signed_in.account_id))
            work.audit.note(signed_in.principal, "recovery_codes.made", about)
        return [rules.shown_code(selector + secret) for selector, secret in codes]

    async def sign_in(self, attempt: RecoveryAttempt, visitor: Visitor) -> str:
        """Sign in by a code, which ends every other session; answers the cookie.

        An unknown name, a disabled account and a wrong code are refused alike, after the same work.
        Raises RecoveryRefused, SignInThrottled, HashingBusy, or what the captcha does.
        """
        await self.ground.captcha.demand(attempt.captcha)
        name = fold_name(attempt.name)
        limits = {
            visitor.place: self.ground.settings.failures_per_address,
            f"account:{name}": self.ground.settings.failures_per_account,
        }
        async with self.ground.throttle.attempt(limits):
            found = await self._check(name, attempt.code)
            async with self.ground.open() as work:
                account = await self._claim(work, name, found)
                about = ("account", str(account.id))
                work.audit.note(principal_of(account), "recovery_code.used", about)
                await work.accounts.reset_credentials(account.id)
                return await work.sessions.sign_in(account, RECOVERY_CODE, visitor.browser, visitor.cookie)

    async def _claim(self, work: Work, name: str, found: RecoveryCode | None) -> Account:
        """The account whose code is spent by this. Raises RecoveryRefused, which is audited."""
        account = await work.accounts.find_named(name)
        if account is not None and found is not None:
            account = await work.accounts.lock(account.id)
            if account.disabled_at is None and await work.passkeys.claim_code(found.id, self.ground.now()):
                return account
        actor = principal_of(account) if account else ANONYMOUS
        about = ("account", str(account.id) if account else "unknown")
        work.audit.note(actor, "recovery_code.refused", about)
        raise RecoveryRefused

    async def _check(self, name: str, code: str) -> RecoveryCode | None:
        """The code's row when it is right. The slow part holds no transaction."""
        selector, secret = rules.normal_code(code) or ("", "")
        async with self.ground.look() as work:
            account: Account | None = await work.accounts.find_named(name or "?")
            ident = account.id if account else new_account_id()
            row = await work.passkeys.find_code(ident, selector)
        good = await self.hashes.matches(secret, row.hash if row else None)
        return row if good else None
