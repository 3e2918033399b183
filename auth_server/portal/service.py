"""The applications that a person let in: what joins consents, grants and clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auth_server.authorization.service import AuthorizationService
from auth_server.clients.schemas import OpenIdScope
from auth_server.clients.service import ClientService
from auth_server.portal.schemas import Alarm, ApplicationRead
from auth_server.sessions.schemas import SignedIn
from auth_server.tokens.service import GrantService


@dataclass(frozen=True, slots=True)
class Applications:
    """Applications as one database session sees them."""

    authorization: AuthorizationService
    grants: GrantService
    clients: ClientService

    async def list(self, person: SignedIn) -> list[ApplicationRead]:
        """Those with a consent that is remembered or a sign-in that is alive, by name."""
        consents = {row.client_id: row for row in await self.authorization.list_consents(person)}
        grants = await self.grants.list_live(person.account_id)
        found = []
        for client_id in {*consents, *(grant.client_id for grant in grants)}:
            client = await self.clients.find(client_id)
            own = [grant for grant in grants if grant.client_id == client_id]
            consent = consents.get(client_id)
            scopes = {scope for each in (*own, consent) if each for scope in each.scopes}
            begun = [grant.created_at for grant in own] + ([consent.granted_at] if consent else [])
            application = ApplicationRead(
                client_id=client_id,
                name=client.name if client else client_id,
                scopes=sorted(scopes),
                since=min(begun),
                offline=OpenIdScope.OFFLINE_ACCESS in scopes,
                grants=len(own),
                remembered_until=consent.expires_at if consent else None,
            )
            found.append(application)
        return sorted(found, key=lambda each: (each.name.casefold(), each.client_id))

    async def list_alarms(self, person: SignedIn) -> Sequence[Alarm]:
        """What ended lately because somebody else may have had something of it."""
        found = []
        for grant in await self.grants.list_alarms(person.account_id):
            client = await self.clients.find(grant.client_id)
            at = grant.revoked_at or grant.created_at
            found.append(Alarm(client=client.name if client else grant.client_id, at=at))
        return found

    async def withdraw(self, person: SignedIn, client_id: str) -> None:
        """Forget the consent, and end everything that came of it; nothing where there is nothing."""
        await self.authorization.withdraw_consent(person, client_id)
