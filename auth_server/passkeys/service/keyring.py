"""A person's own passkeys: seen, named and removed, but never the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from auth_server.passkeys.errors import LastPasskey, PasskeyNotFound
from auth_server.passkeys.models import Passkey
from auth_server.passkeys.service.ground import Work
from auth_server.sessions.errors import StepUpNeeded
from auth_server.sessions.rules import is_fresh
from auth_server.sessions.schemas import SignedIn
from shared.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class Keyring:
    """Passkeys as one database session sees them."""

    work: Work
    now: Clock

    async def list(self, signed_in: SignedIn) -> Sequence[Passkey]:
        """The person's passkeys, oldest first."""
        return await self.work.passkeys.list(signed_in.account_id)

    async def get(self, signed_in: SignedIn, ident: UUID) -> Passkey:
        """One of the person's own passkeys. Raises PasskeyNotFound."""
        for passkey in await self.list(signed_in):
            if passkey.id == ident:
                return passkey
        raise PasskeyNotFound

    async def count_codes(self, signed_in: SignedIn) -> int:
        """How many of the person's recovery codes are good."""
        return await self.work.passkeys.count_codes(signed_in.account_id)

    async def rename(self, signed_in: SignedIn, ident: UUID, name: str) -> Passkey:
        """Give a passkey another name. Raises PasskeyNotFound."""
        renamed = await self.work.passkeys.rename(signed_in.account_id, ident, name)
        if renamed is None:
            raise PasskeyNotFound
        about = ("passkey", str(ident))
        self.work.audit.note(signed_in.principal, "passkey.renamed", about, after={"name": name})
        return renamed

    async def remove(self, signed_in: SignedIn, ident: UUID) -> None:
        """Make a passkey worthless at once; the person's other sessions end with it.

        Raises StepUpNeeded, PasskeyNotFound or LastPasskey.
        """
        if not is_fresh(signed_in.stepped_up_at, self.now()):
            raise StepUpNeeded
        await self.work.accounts.lock(signed_in.account_id)
        await self.get(signed_in, ident)
        if len(await self.list(signed_in)) == 1:
            raise LastPasskey
        await self.work.passkeys.claim_removal(signed_in.account_id, ident)
        self.work.audit.note(signed_in.principal, "passkey.removed", ("passkey", str(ident)))
        await self.work.accounts.reset_credentials(signed_in.account_id, signed_in.session_id)
