"""Registering passkeys: the first one with an invitation, more of them in a fresh session."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from webauthn import generate_registration_options
from webauthn.helpers import options_to_json_dict
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from auth_server.accounts.errors import AccountNameTaken, InvitationRefused
from auth_server.accounts.models import Account
from auth_server.accounts.schemas import NewAccount
from auth_server.accounts.service import INVITATION_PREFIX, new_account_id, principal_of
from auth_server.passkeys import rules
from auth_server.passkeys.errors import (
    CeremonyGone,
    PasskeyKnown,
    RegistrationRefused,
    TooManyPasskeys,
)
from auth_server.passkeys.models import Passkey
from auth_server.passkeys.schemas import (
    Ceremony,
    CeremonyKind,
    CeremonyOptions,
    InvitedBegin,
    InvitedFinish,
    NewCredential,
    RegistrationFinish,
)
from auth_server.passkeys.service.assertions import describe
from auth_server.passkeys.service.ground import ANONYMOUS, CEREMONY_LIFE, Ground, Visitor, Work
from auth_server.sessions.errors import StepUpNeeded
from auth_server.sessions.rules import device_name, may_add_passkey
from auth_server.sessions.schemas import SignedIn
from auth_server.sessions.service import PASSKEY
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Principal
from shared.kernel.secrets import identify

_MOST_PASSKEYS = 20
_UNNAMED = "Passkey"


@dataclass(frozen=True, slots=True)
class Registrations:
    """What brings a new passkey."""

    ground: Ground

    async def begin_invited(self, wanted: InvitedBegin, visitor: Visitor) -> CeremonyOptions:
        """Options for a new account's first passkey. Raises InvitationRefused or AccountNameTaken."""
        async with self.ground.look() as work:
            invitation = await work.accounts.get_invitation(wanted.invitation)
            if await work.accounts.find_named(wanted.name) is not None:
                raise AccountNameTaken
        ident = new_account_id()
        subject = {
            "account": str(ident),
            "name": wanted.name,
            "display_name": wanted.display_name,
            "invitation": invitation.id,
        }
        handle, challenge = await self.ground.begin(CeremonyKind.INVITED, visitor, subject)
        return self._options(handle, challenge, (ident, wanted.name, wanted.display_name), [])

    async def finish_invited(self, answer: InvitedFinish, visitor: Visitor) -> str:
        """Make the account with its passkey and sign in; answers the session's cookie.

        Raises CeremonyGone, RegistrationRefused, InvitationRefused, AccountNameTaken or PasskeyKnown.
        """
        ceremony = await self.ground.take(answer.ceremony, CeremonyKind.INVITED, visitor)
        if identify(answer.invitation, INVITATION_PREFIX) != ceremony.subject["invitation"]:
            raise InvitationRefused
        wanted = NewAccount.model_validate(ceremony.subject, extra="ignore")
        async with self.ground.open() as work:
            made = self._check(work, answer, ceremony, ANONYMOUS)
            ident = UUID(ceremony.subject["account"])
            account = await work.accounts.accept(answer.invitation, ident, wanted)
            await self._add(work, account, made, (answer, visitor))
            return await work.sessions.sign_in(account, PASSKEY, visitor.browser, visitor.cookie)

    async def begin_added(self, signed_in: SignedIn, visitor: Visitor) -> CeremonyOptions:
        """Options for one more passkey. Raises StepUpNeeded."""
        if not may_add_passkey(signed_in, self.ground.now()):
            raise StepUpNeeded
        subject = {"account": str(signed_in.account_id)}
        handle, challenge = await self.ground.begin(CeremonyKind.ADDED, visitor, subject)
        async with self.ground.look() as work:
            own = await work.passkeys.list(signed_in.account_id)
        user = (signed_in.account_id, signed_in.name, signed_in.display_name)
        return self._options(handle, challenge, user, [describe(passkey) for passkey in own])

    async def finish_added(
        self, answer: RegistrationFinish, signed_in: SignedIn, visitor: Visitor
    ) -> Passkey:
        """Add the passkey. Raises CeremonyGone, RegistrationRefused, PasskeyKnown or TooManyPasskeys."""
        ceremony = await self.ground.take(answer.ceremony, CeremonyKind.ADDED, visitor)
        if ceremony.subject["account"] != str(signed_in.account_id):
            raise CeremonyGone
        async with self.ground.open() as work:
            made = self._check(work, answer, ceremony, signed_in.principal)
            account = await work.accounts.lock(signed_in.account_id)
            if len(await work.passkeys.list(account.id)) >= _MOST_PASSKEYS:
                raise TooManyPasskeys
            return await self._add(work, account, made, (answer, visitor))

    def _options(
        self,
        handle: str,
        challenge: bytes,
        user: tuple[UUID, str, str],
        excluded: list[PublicKeyCredentialDescriptor],
    ) -> CeremonyOptions:
        ident, name, display_name = user
        options = generate_registration_options(
            rp_id=self.ground.party.id,
            rp_name=self.ground.party.name,
            user_id=ident.bytes,
            user_name=name,
            user_display_name=display_name,
            challenge=challenge,
            timeout=int(CEREMONY_LIFE.total_seconds() * 1000),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=excluded,
            supported_pub_key_algs=list(rules.ALGORITHMS),
        )
        return CeremonyOptions(ceremony=handle, options=options_to_json_dict(options))

    def _check(
        self, work: Work, answer: RegistrationFinish, ceremony: Ceremony, actor: Principal
    ) -> NewCredential:
        try:
            return rules.check_registration(answer.credential, ceremony, self.ground.party)
        except RegistrationRefused as refusal:
            about = ("account", ceremony.subject["account"])
            reason = {"reason": rules.failed_check(refusal)}
            work.audit.note(actor, "passkey.registration_refused", about, after=reason)
            raise

    async def _add(
        self,
        work: Work,
        account: Account,
        made: NewCredential,
        asked: tuple[RegistrationFinish, Visitor],
    ) -> Passkey:
        answer, visitor = asked
        passkey = Passkey(
            id=new_uuid(),
            account_id=account.id,
            credential_id=made.credential_id,
            public_key=made.public_key,
            sign_count=made.sign_count,
            backup_eligible=made.backup_eligible,
            backed_up=made.backed_up,
            transports=rules.known_transports(answer.credential.response.transports),
            aaguid=made.aaguid,
            name=answer.name or device_name(visitor.browser.user_agent) or _UNNAMED,
            created_at=self.ground.now(),
            last_used_at=None,
        )
        if not await work.passkeys.claim_credential(passkey):
            raise PasskeyKnown
        about = ("passkey", str(passkey.id))
        work.audit.note(principal_of(account), "passkey.added", about, after={"name": passkey.name})
        return passkey
