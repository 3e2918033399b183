"""Wire shapes of accounts and invitations, and what others are told of an account."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from shared.kernel.principal import Role


class AccountChange(StrEnum):
    """What happened to an account that ends what was derived from it."""

    DISABLED = "disabled"
    ENABLED = "enabled"
    ROLE_CHANGED = "role_changed"
    #: A passkey was removed or a recovery code was used: whoever held the old ones is out.
    CREDENTIALS_RESET = "credentials_reset"


@dataclass(frozen=True, slots=True)
class AccountChanged:
    """Told to every listener, inside the transaction of the change."""

    account_id: UUID
    change: AccountChange
    #: The session in which the person did it themselves; it and what hangs on it may live on.
    kept_session: UUID | None = None


AccountListener = Callable[[AccountChanged], Awaitable[None]]


def printable(value: str) -> str:
    """The text in one form, without what cannot be seen. Raises ValueError."""
    folded = unicodedata.normalize("NFC", value).strip()
    if not folded or not folded.isprintable():
        raise PydanticCustomError("not_printable", "needs letters that can be shown")
    return folded


def printable_or_empty(value: str) -> str:
    """Text that a person may leave out."""
    return printable(value) if value.strip() else ""


AccountName = Annotated[
    str,
    AfterValidator(str.lower),
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$",
        description="Login name: 2 to 32 letters, digits, dots, dashes and underscores; case does not matter",
    ),
]
DisplayName = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(printable)]


InvitationId = Annotated[str, Field(pattern=r"^[0-9a-z]{12}$")]


class NewAccount(BaseModel):
    """What a person says of themselves when they accept an invitation."""

    name: AccountName
    display_name: DisplayName


class AccountRead(BaseModel):
    """An account as administrators see it."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    display_name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None


class AccountUpdate(BaseModel):
    """What an administrator changes; what is absent stays."""

    role: Role | None = None
    disabled: bool | None = None


class InvitationCreate(BaseModel):
    """A new invitation."""

    role: Role
    note: Annotated[str, Field(max_length=80), AfterValidator(printable_or_empty)] = Field(
        default="", description="Whom it is for"
    )


class InvitationRead(BaseModel):
    """An open invitation; its secret was shown once."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    role: Role
    note: str
    created_by: str
    created_at: datetime
    expires_at: datetime


class InvitationMade(InvitationRead):
    """A fresh invitation with its link, which is never shown again."""

    link: str
