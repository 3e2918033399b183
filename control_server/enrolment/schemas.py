"""Wire shapes of enrolment tokens and registrations; the agent's side is `shared.protocol.enrolment`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from control_server.nodes.schemas import NodeId

_MINUTE = 60
_MONTH = 30 * 24 * 3600


class EnrolmentTokenCreate(BaseModel):
    """A one-shot token for one agent."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeId | None = Field(
        default=None, description="Node that the agent becomes; without it the agent waits for approval"
    )
    expires_in: int = Field(default=3600, ge=_MINUTE, le=_MONTH, description="Life in seconds")


class EnrolmentTokenCreated(BaseModel):
    """The token: shown here and never again."""

    token_id: str
    token: str
    node_id: str | None
    expires_at: datetime


class EnrolmentTokenRead(BaseModel):
    """A token without its secret."""

    token_id: str
    node_id: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime
    state: Literal["open", "used", "expired", "revoked"]


class RegistrationRead(BaseModel):
    """An agent that waits, or waited, for a decision."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    node_id: str
    hostname: str
    agent_version: str
    from_address: str
    state: Literal["pending", "approved", "rejected", "enrolled"]
    key_fingerprint: str
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class Approval(BaseModel):
    """What to call the node; by default as the agent proposed."""

    model_config = ConfigDict(extra="forbid")

    node_id: NodeId | None = None
