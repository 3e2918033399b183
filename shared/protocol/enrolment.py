"""How an agent becomes a node's agent: a one-shot token and proof of an Ed25519 identity key.

1. `POST /api/v1/agent/enrol/challenges` gives a challenge that is good once and for minutes.
2. The agent signs `signed_message(...)` with its identity key and posts `EnrolmentRequest`.
3. The answer is the agent token, or `pending` when the token leads to the approval queue; then the agent
   repeats 1 and 2 with `registration_id` in place of the token until it is approved or rejected.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from shared.protocol.frames import Capabilities

#: A node's stable id, chosen by the operator: lower-case labels as in a host name.
NODE_ID_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"


class EnrolmentChallenge(BaseModel):
    """A nonce to sign, good once."""

    challenge: str
    expires_at: datetime


class EnrolmentRequest(BaseModel):
    """Token, or registration that waits for approval, and proof of the identity key."""

    model_config = ConfigDict(extra="forbid")

    token: str | None = Field(default=None, max_length=128)
    registration_id: UUID | None = None
    node_id: str | None = Field(default=None, pattern=NODE_ID_PATTERN)
    public_key: str = Field(max_length=64, description="Ed25519 public key, base64 (RFC 8032, RFC 4648)")
    challenge: str = Field(max_length=128)
    signature: str = Field(max_length=128, description="Ed25519 signature, base64")
    agent_version: str = Field(max_length=64)
    hostname: str = Field(default="", max_length=253)
    capabilities: Capabilities = Field(default_factory=Capabilities)


class EnrolmentResult(BaseModel):
    """What became of it. The agent token is shown here and never again."""

    state: Literal["enrolled", "pending", "rejected"]
    node_id: str | None = None
    agent_token: str | None = None
    registration_id: UUID | None = None
    retry_after_seconds: float | None = None


def signed_message(challenge: str, credential: str, node_id: str | None) -> bytes:
    """The exact bytes that the identity key signs. `credential` is the token or the registration id."""
    return "\n".join(("routeloom-enrolment-v1", challenge, credential, node_id or "")).encode()
