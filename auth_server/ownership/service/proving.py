"""Proving: a challenge is given out, and its signature becomes a proof."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from auth_server.ownership.errors import (
    ChallengeGone,
    MaintainerWithoutKeys,
    ProofThrottled,
    SignatureRefused,
    SubjectUnknown,
)
from auth_server.ownership.models import OwnershipChallenge, OwnershipProof
from auth_server.ownership.rules import challenges as rules
from auth_server.ownership.schemas import MaintainerFacts, ProofBegin, ProofFinish, SignedBy, Window
from auth_server.ownership.service.ground import Ground, Work
from auth_server.ownership.service.verifying import Question, Verifier
from auth_server.sessions.schemas import SignedIn
from shared.kernel.ids import new_uuid

_HOUR = timedelta(hours=1)
_MOST_AN_HOUR = 30


@dataclass(frozen=True, slots=True)
class Proving:
    """How somebody comes to hold a maintainer here."""

    ground: Ground
    verifier: Verifier
    #: Who asks, in the text that is signed: the public address.
    service: str

    async def candidates(self, wanted: ProofBegin) -> tuple[list[str], int | None]:
        """The maintainers that may be meant, and the AS number if one was given.

        Raises SubjectMalformed, SubjectUnknown, MaintainerShared or RegistryAway.
        """
        asn = rules.read_asn(wanted.subject)
        if asn is None:
            return [rules.read_mntner(wanted.subject)], None
        names = await self.ground.registry.maintainers_of(asn)
        if wanted.mntner:
            names = [name for name in names if rules.same_name(name, wanted.mntner.strip())]
            if not names:
                raise SubjectUnknown
        return names, asn

    async def begin(self, person: SignedIn, mntner: str, asn: int | None) -> OwnershipChallenge:
        """A challenge for this session. Raises what `Registry.facts` does, and ProofThrottled."""
        facts = await self.ground.registry.facts(rules.read_mntner(mntner), asn)
        if not rules.usable(facts.auth):
            raise MaintainerWithoutKeys
        at = self.ground.now()
        until = at + self.ground.settings.challenge_life
        nonce = secrets.token_hex(16)
        text = rules.challenge_text(self.service, person.name, rules.read_mntner(facts.mntner), nonce, until)
        keys = rules.keys_shown(facts.auth, text, self.ground.settings.namespace)
        challenge = OwnershipChallenge(
            id=new_uuid(),
            account_id=person.account_id,
            session_id=person.session_id,
            mntner=facts.mntner,
            asn=asn,
            text=text,
            keys=[key.model_dump() for key in keys],
            attempts=0,
            created_at=at,
            expires_at=until,
            consumed_at=None,
        )
        async with self.ground.open() as work:
            await work.accounts.lock(person.account_id)
            if await work.ownership.count_challenges_since(person.account_id, at - _HOUR) >= _MOST_AN_HOUR:
                raise ProofThrottled(retry_after=_HOUR)
            work.ownership.add_challenge(challenge)
            about = ("mntner", facts.mntner)
            work.audit.note(person.principal, "proof.begun", about)
        return challenge

    async def get(self, person: SignedIn, ident: UUID) -> OwnershipChallenge:
        """The person's own open challenge. Raises ChallengeGone."""
        async with self.ground.look() as work:
            found = await work.ownership.find_open(ident, person.session_id, self.ground.now())
        if found is None:
            raise ChallengeGone
        return found

    async def finish(self, person: SignedIn, ident: UUID, pasted: ProofFinish) -> OwnershipProof:
        """The proof that a signature makes.

        The registry is read anew, and first: where it is away, no attempt is used up. Raises ChallengeGone,
        SignatureRefused, MaintainerWithoutKeys, or that something is away or busy.
        """
        challenge = await self.get(person, ident)
        facts = await self.ground.registry.facts(challenge.mntner, challenge.asn)
        if not rules.usable(facts.auth):
            raise MaintainerWithoutKeys
        async with self.ground.open() as work:
            if not await work.ownership.claim_attempt(ident, person.session_id, self.ground.now()):
                raise ChallengeGone
        question = Question(
            challenge.text,
            self.ground.settings.namespace,
            facts.auth,
            Window(challenge.created_at, challenge.expires_at),
        )
        try:
            signed_by = await self.verifier.verify(pasted, question)
        except SignatureRefused as refusal:
            async with self.ground.open() as work:
                about = ("mntner", challenge.mntner)
                work.audit.note(person.principal, "proof.refused", about, after={"reason": refusal.code})
            raise
        async with self.ground.open() as work:
            return await self._accept(work, person, challenge, (facts, signed_by))

    async def _accept(
        self,
        work: Work,
        person: SignedIn,
        challenge: OwnershipChallenge,
        shown: tuple[MaintainerFacts, SignedBy],
    ) -> OwnershipProof:
        facts, signed_by = shown
        at = self.ground.now()
        account = await work.accounts.lock(person.account_id)
        open_still = await work.ownership.claim_challenge(challenge.id, person.session_id, at)
        if account.disabled_at is not None or not open_still:
            raise ChallengeGone
        await work.proofs.replace(account.id, facts.mntner, person.principal)
        others = await work.proofs.list(account.id)
        proof = OwnershipProof(
            id=new_uuid(),
            account_id=account.id,
            mntner=facts.mntner,
            method=signed_by.method,
            key=signed_by.key,
            fingerprint=signed_by.fingerprint,
            asn=facts.asn,
            asns=list(facts.asns),
            claims=dict(facts.claims),
            active=not any(other.active for other in others),
            proved_at=at,
            checked_at=at,
            ended_at=None,
            end_reason=None,
        )
        work.ownership.add_proof(proof)
        after = {"mntner": facts.mntner, "method": signed_by.method, "fingerprint": signed_by.fingerprint}
        work.audit.note(person.principal, "proof.accepted", ("proof", str(proof.id)), after=after)
        return proof
