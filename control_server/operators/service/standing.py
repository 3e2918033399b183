"""What a person may do now, for credentials that outlive their sessions: asked for at most a second ago."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

from control_server.operators.errors import OwnerShutOut
from control_server.operators.service.provider import Provider
from control_server.operators.service.verdicts import Verdicts
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role


@dataclass(slots=True)
class Standing:
    """Roles of accounts as the sign-in service has them."""

    provider: Provider
    now: Clock
    verdicts: Verdicts[Role] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has been asked yet."""
        self.verdicts = Verdicts(self.provider.settings.sign_in, self.now)

    async def of_now(self, principal: Principal) -> Principal:
        """The same caller with their role of now. Raises OwnerShutOut or AuthAway.

        Whoever has no account there, as services and the host's operator, is what they always were.
        """
        subject = _account_of(principal)
        if subject is None:
            return principal

        async def ask() -> Role | None:
            said = await self.provider.standing(subject)
            known = said.get("active") is True and said.get("sub") == subject
            return Role(said["role"]) if known and said.get("role") in set(Role) else None

        role = await self.verdicts.of(subject, ask)
        if role is None:
            raise OwnerShutOut
        return replace(principal, role=role)


def _account_of(principal: Principal) -> str | None:
    kind, _, subject = principal.id.partition(":")
    if principal.kind is not PrincipalKind.PERSON or kind != "person":
        return None
    try:
        return str(UUID(subject))
    except ValueError:
        return None
