"""Signing in with a passkey, and confirming with one again."""

from __future__ import annotations

from dataclasses import dataclass

from webauthn import generate_authentication_options
from webauthn.helpers import base64url_to_bytes, options_to_json_dict
from webauthn.helpers.structs import (
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    UserVerificationRequirement,
)

from auth_server.accounts.models import Account
from auth_server.accounts.rules import fold_name
from auth_server.accounts.service import principal_of
from auth_server.passkeys import rules
from auth_server.passkeys.errors import PasskeyRefused
from auth_server.passkeys.models import Passkey
from auth_server.passkeys.schemas import (
    AssertionCredential,
    Ceremony,
    CeremonyKind,
    CeremonyOptions,
    KnownCredential,
    SignInFinish,
)
from auth_server.passkeys.service.ground import ANONYMOUS, CEREMONY_LIFE, Ground, Visitor, Work
from auth_server.sessions.schemas import SignedIn
from auth_server.sessions.service import PASSKEY


@dataclass(frozen=True, slots=True)
class Assertions:
    """What a person does with a passkey that is registered."""

    ground: Ground

    async def begin_sign_in(self, name: str, visitor: Visitor) -> CeremonyOptions:
        """Options that are the same for everybody, so they tell nothing about a name."""
        subject = {"name": fold_name(name)}
        handle, challenge = await self.ground.begin(CeremonyKind.SIGN_IN, visitor, subject)
        return self._options(handle, challenge, [])

    async def finish_sign_in(self, answer: SignInFinish, visitor: Visitor) -> str:
        """Sign in; answers the session's cookie.

        Raises CeremonyGone, PasskeyRefused, SignInThrottled, or what the captcha does where it is due.
        """
        ceremony = await self.ground.take(answer.ceremony, CeremonyKind.SIGN_IN, visitor)
        await self.ground.captcha.demand_if_due(visitor.place, answer.captcha)
        limits = {visitor.place: self.ground.settings.failures_per_address}
        async with self.ground.throttle.attempt(limits), self.ground.open() as work:
            account = await self._verify(work, answer.credential, ceremony)
            return await work.sessions.sign_in(account, PASSKEY, visitor.browser, visitor.cookie)

    async def begin_step_up(self, signed_in: SignedIn, visitor: Visitor) -> CeremonyOptions:
        """Options for one of the person's own passkeys."""
        subject = {"owner": str(signed_in.account_id)}
        handle, challenge = await self.ground.begin(CeremonyKind.STEP_UP, visitor, subject)
        async with self.ground.look() as work:
            own = await work.passkeys.list(signed_in.account_id)
        return self._options(handle, challenge, [describe(passkey) for passkey in own])

    async def finish_step_up(self, answer: SignInFinish, signed_in: SignedIn, visitor: Visitor) -> str:
        """Confirm; answers the session's new cookie. Raises CeremonyGone or PasskeyRefused."""
        ceremony = await self.ground.take(answer.ceremony, CeremonyKind.STEP_UP, visitor)
        async with self.ground.open() as work:
            account = await self._verify(work, answer.credential, ceremony)
            if account.id != signed_in.account_id:
                raise PasskeyRefused
            return await work.sessions.step_up(signed_in)

    def _options(
        self, handle: str, challenge: bytes, allowed: list[PublicKeyCredentialDescriptor]
    ) -> CeremonyOptions:
        options = generate_authentication_options(
            rp_id=self.ground.party.id,
            challenge=challenge,
            timeout=int(CEREMONY_LIFE.total_seconds() * 1000),
            allow_credentials=allowed,
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return CeremonyOptions(ceremony=handle, options=options_to_json_dict(options))

    async def _verify(self, work: Work, given: AssertionCredential, ceremony: Ceremony) -> Account:
        """Whose passkey it is, with its use noted. Raises PasskeyRefused, which is audited."""
        passkey = await work.passkeys.find(base64url_to_bytes(given.rawId))
        if passkey is None:
            work.audit.note(ANONYMOUS, "sign_in.refused", ("passkey", "unknown"))
            raise PasskeyRefused
        account = await work.accounts.lock(passkey.account_id)
        reason = await self._refusal(work, given, ceremony, (passkey, account))
        if reason:
            about = ("passkey", str(passkey.id))
            work.audit.note(principal_of(account), "sign_in.refused", about, after={"reason": reason})
            raise PasskeyRefused
        return account

    async def _refusal(
        self, work: Work, given: AssertionCredential, ceremony: Ceremony, known: tuple[Passkey, Account]
    ) -> str:
        """Why this answer is not accepted; empty when it is, and then its use is noted."""
        passkey, account = known
        try:
            said = rules.check_assertion(
                given,
                KnownCredential(passkey.public_key, account.id.bytes, passkey.backup_eligible),
                ceremony,
                self.ground.party,
            )
        except PasskeyRefused as refusal:
            return rules.failed_check(refusal)
        if ceremony.subject.get("owner", str(account.id)) != str(account.id):
            return "another person's passkey"
        if ceremony.subject.get("name") and ceremony.subject["name"] != account.name:
            return "another name"
        if account.disabled_at is not None:
            return "account disabled"
        if not await work.passkeys.claim_use(passkey.id, said, self.ground.now()):
            return "counter went back"
        return ""


def describe(passkey: Passkey) -> PublicKeyCredentialDescriptor:
    """The passkey as options name it."""
    return PublicKeyCredentialDescriptor(
        id=passkey.credential_id,
        transports=[AuthenticatorTransport(transport) for transport in passkey.transports] or None,
    )
