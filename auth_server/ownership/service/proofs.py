"""A person's proofs: seen, chosen between, withdrawn, and told to clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from auth_server.audit.service import Audit
from auth_server.ownership.errors import ProofNotFound
from auth_server.ownership.models import OwnershipProof
from auth_server.ownership.repository import OwnershipRepository
from auth_server.ownership.schemas import EndReason, ProofEnded, ProofEndListener
from auth_server.settings import OwnershipSettings
from shared.kernel.clock import Clock
from shared.kernel.principal import SYSTEM, Principal


@dataclass(frozen=True, slots=True)
class ProofService:
    """Proofs as one database session sees them."""

    ownership: OwnershipRepository
    audit: Audit
    settings: OwnershipSettings
    now: Clock
    #: Told of every proof that a person withdraws, or that ends because the registry says so.
    listeners: Sequence[ProofEndListener] = field(default=())

    async def list(self, account_id: UUID) -> Sequence[OwnershipProof]:
        """The person's proofs: the active one first."""
        return await self.ownership.list_live(account_id)

    async def get(self, account_id: UUID, ident: UUID) -> OwnershipProof:
        """One of the person's own. Raises ProofNotFound."""
        for proof in await self.list(account_id):
            if proof.id == ident:
                return proof
        raise ProofNotFound

    async def claims_of(self, account_id: UUID) -> dict[str, Any]:
        """What clients are told of the person's network: `asn`, `mntner` and `dn42`, or nothing.

        Nothing either where the registry could not be asked for so long that its word is stale.
        """
        good_since = self.now() - self.settings.believed_for
        for proof in await self.list(account_id):
            if proof.checked_at >= good_since:
                return dict(proof.claims)
        return {}

    async def choose(self, account_id: UUID, ident: UUID, who: Principal) -> None:
        """Let claims be those of this proof. Raises ProofNotFound."""
        proof = await self.get(account_id, ident)
        await self.ownership.activate(proof.id, account_id)
        self.audit.note(who, "proof.chosen", ("proof", str(ident)), after={"mntner": proof.mntner})

    async def withdraw(self, account_id: UUID, ident: UUID, who: Principal) -> None:
        """End a proof, and what clients were given by it. Raises ProofNotFound."""
        if not await self.end(account_id, ident, EndReason.WITHDRAWN, who):
            raise ProofNotFound

    async def replace(self, account_id: UUID, mntner: str, who: Principal) -> None:
        """End the earlier proof of a maintainer that is proved again; nothing else ends with it."""
        for proof in await self.list(account_id):
            if proof.mntner == mntner:
                await self.end(account_id, proof.id, EndReason.REPLACED, who)

    async def end(self, account_id: UUID, ident: UUID, reason: EndReason, who: Principal = SYSTEM) -> bool:
        """End a proof once, and tell it; False where it had ended or is somebody else's."""
        ended = await self.ownership.claim_end(ident, account_id, self.now(), reason)
        if ended is None:
            return False
        action = "proof.withdrawn" if reason is EndReason.WITHDRAWN else "proof.lapsed"
        about = ("proof", str(ident))
        self.audit.note(who, action, about, after={"mntner": ended.mntner, "reason": reason})
        if reason is not EndReason.REPLACED:
            for listener in self.listeners:
                await listener(ProofEnded(account_id, reason))
        return True
