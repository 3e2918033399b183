"""Wire shapes of personal access tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.kernel.principal import Scope

_DAY = 24 * 3600
#: The public part of a secret.
TokenId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{12}$")]
TokenState = Literal["active", "expired", "revoked"]
#: What people read in one line; a NUL would be kept by one database and refused by the other.
_Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$"
    ),
]


class ApiTokenCreate(BaseModel):
    """A new token of the caller."""

    model_config = ConfigDict(extra="forbid")

    name: _Name = Field(description="What it is for, for people")
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope), description="Never more than your own")
    expires_in: int = Field(default=90 * _DAY, ge=60, le=366 * _DAY, description="Life in seconds")


class TypedToken(BaseModel):
    """The form of a new token as it was typed, good or not."""

    name: str = ""
    scopes: list[str] = Field(default_factory=list)
    expires_in: str = ""


class ApiTokenRead(BaseModel):
    """A token without its secret."""

    token_id: str
    name: str
    owner_id: str
    owner_name: str
    role: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To within five minutes")
    state: TokenState


class ApiTokenCreated(ApiTokenRead):
    """The token: shown here and never again."""

    token: str
