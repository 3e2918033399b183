"""Events, and the wire shapes of channels, incidents and deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

ChannelId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{12}$")]
ChannelName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Event(StrEnum):
    """What a notification tells."""

    NODE_LOST = "node.lost"
    NODE_BACK = "node.back"
    TEST = "test"


class DeliveryState(StrEnum):
    """How a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    #: Every attempt failed; a person may have it tried again.
    DEAD = "dead"
    #: Its channel was deleted before it was delivered.
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """What a look at one node's link calls for."""

    NOTHING = "nothing"
    LOST = "lost"
    BACK = "back"
    #: The node or its agent is gone: nobody waits for it any more.
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """One node's link as SQL knows it, and its open incident."""

    node_id: str
    site: str
    #: None when the node has no agent.
    last_seen_at: datetime | None
    connected_at: datetime | None
    disconnected_at: datetime | None
    incident_id: UUID | None
    opened_at: datetime | None


class ChannelCreate(BaseModel):
    """A new receiver."""

    model_config = ConfigDict(extra="forbid")

    name: ChannelName = Field(description="What it is for, for people")
    url: str = Field(max_length=2000, description="http:// or https:// address that takes POST requests")

    @field_validator("url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        text = value.strip()
        if not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("Write the address in ASCII, without spaces.")
        try:
            parts = urlsplit(text)
            _ = parts.port
        except ValueError:
            raise ValueError("This is not an address.") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("The address begins with https:// or http:// and names a host.")
        if parts.username is not None or parts.password is not None:
            raise ValueError("Leave user and password out of the address; every request is signed instead.")
        if parts.fragment:
            raise ValueError("Leave the part after # out: it is never sent.")
        return text


class ChannelRead(BaseModel):
    """A receiver without its secret."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    url: str
    created_at: datetime
    created_by: str


class ChannelCreated(ChannelRead):
    """The receiver with the secret that signs: shown here and never again."""

    secret: str


class IncidentRead(BaseModel):
    """A node that is, or was, lost."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    node_id: str
    opened_at: datetime
    closed_at: datetime | None
    last_seen_at: datetime


class DeliveryRead(BaseModel):
    """One notification to one channel."""

    id: UUID
    channel_id: str
    channel: str
    event: Event
    incident_id: UUID | None
    state: DeliveryState
    attempts: int
    created_at: datetime
    finished_at: datetime | None
    error: str


class TestStarted(BaseModel):
    """A test notification on its way."""

    __test__ = False

    delivery_id: UUID


class Alerts(BaseModel):
    """What the page shows."""

    incidents: list[IncidentRead]
    channels: list[ChannelRead]
    deliveries: list[DeliveryRead]
