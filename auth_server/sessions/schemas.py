"""What a signed-in browser is to others, and the wire shapes of sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from shared.kernel.principal import Principal, PrincipalKind, Role


class EndReason(StrEnum):
    """Why a session ended."""

    SIGNED_OUT = "signed_out"
    ENDED_BY_OWNER = "ended_by_owner"
    ENDED_BY_ADMINISTRATOR = "ended_by_administrator"
    #: Somebody else signed in in the same browser.
    REPLACED = "replaced"
    ACCOUNT_DISABLED = "account_disabled"
    CREDENTIALS_RESET = "credentials_reset"
    #: Only for clients: the session here goes on with the new role.
    ROLE_CHANGED = "role_changed"


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """Told to every listener, inside the transaction that ends the session."""

    session_id: UUID
    account_id: UUID
    reason: EndReason


SessionEndListener = Callable[[SessionEnded], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Browser:
    """What is noted of the browser of a session."""

    user_agent: str
    address: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser whose session is good and whose account is not disabled, as of this request."""

    session_id: UUID
    account_id: UUID
    name: str
    display_name: str
    role: Role
    #: The real sign-in.
    auth_time: datetime
    amr: tuple[str, ...]
    #: The last fresh passkey in this session, the sign-in itself included where it was one.
    stepped_up_at: datetime | None

    @property
    def principal(self) -> Principal:
        """The person with every scope of the role."""
        return Principal.of_role(str(self.account_id), PrincipalKind.PERSON, self.name, self.role)


class SessionRead(BaseModel):
    """One signed-in browser, as its owner and administrators see it."""

    id: UUID
    device: str
    from_address: str
    auth_time: datetime
    last_used_at: datetime
    current: bool
