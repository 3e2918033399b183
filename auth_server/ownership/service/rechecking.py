"""Proofs hold only while the registry says so: it is asked again, and what it no longer says ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from auth_server.ownership.errors import MaintainerShared, RegistryAway, SubjectUnknown
from auth_server.ownership.models import OwnershipProof
from auth_server.ownership.rules.challenges import PGP_METHODS
from auth_server.ownership.schemas import EndReason, MaintainerFacts
from auth_server.ownership.service.ground import Ground

_AT_ONCE = 50
#: Challenges count against new ones for so long.
_COUNTED_FOR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Rechecking:
    """Asks the registry about proofs that were given."""

    ground: Ground

    async def of_account(self, account_id: UUID) -> None:
        """Check the person's proofs now. With the registry away everything stays as it was."""
        async with self.ground.look() as work:
            proofs = await work.proofs.list(account_id)
        await self._check_all(proofs)

    async def what_is_due(self) -> None:
        """Check those whose last check is long ago."""
        due = self.ground.now() - self.ground.settings.check_every
        async with self.ground.look() as work:
            proofs = await work.ownership.list_unchecked_since(due, _AT_ONCE)
        await self._check_all(proofs)

    async def forget(self) -> None:
        """Delete challenges that are over, save those that count against a new one."""
        async with self.ground.open() as work:
            await work.ownership.forget_before(self.ground.now() - _COUNTED_FOR)

    async def _check_all(self, proofs: Sequence[OwnershipProof]) -> None:
        for proof in proofs:
            try:
                verdict = await self._ask(proof)
            except RegistryAway:
                return
            await self._note(proof, verdict)

    async def _ask(self, proof: OwnershipProof) -> MaintainerFacts | EndReason:
        try:
            facts = await self.ground.registry.facts(proof.mntner, proof.asn)
        except SubjectUnknown:
            return EndReason.MAINTAINER_GONE
        except MaintainerShared:
            return EndReason.SHARED
        return facts if _still_listed(proof, facts) else EndReason.KEY_GONE

    async def _note(self, proof: OwnershipProof, verdict: MaintainerFacts | EndReason) -> None:
        async with self.ground.open() as work:
            if isinstance(verdict, EndReason):
                await work.proofs.end(proof.account_id, proof.id, verdict)
                return
            values = {
                "asn": verdict.asn,
                "asns": list(verdict.asns),
                "claims": dict(verdict.claims),
                "checked_at": self.ground.now(),
            }
            await work.ownership.note_check(proof.id, values)


def _still_listed(proof: OwnershipProof, facts: MaintainerFacts) -> bool:
    """Whether the line that proved it is there, whatever its comment says now."""
    for line in facts.auth:
        if line.method == proof.method:
            key = line.value if line.method in PGP_METHODS else line.value.split()[0]
            if key == proof.key:
                return True
    return False
