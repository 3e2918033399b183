"""What pages and routes that join several features show."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field


class Alarm(BaseModel):
    """A sign-in that ended because something of it was used twice or guessed at."""

    client: str
    at: datetime


class ApplicationRead(BaseModel):
    """A client that the person let in."""

    client_id: str
    name: str
    scopes: list[str]
    since: datetime = Field(description="The oldest sign-in of it that is alive, or the consent")
    offline: bool = Field(description="Whether it may go on when the person is away")
    grants: int = Field(description="How many of its sign-ins are alive")
    remembered_until: datetime | None = Field(description="Until when no consent is asked again")
