"""Where a protocol server listens, and how many connections it keeps."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator


class ListenerSettings(BaseModel):
    """One TCP port."""

    model_config = ConfigDict(frozen=True)

    hosts: tuple[str, ...] = Field(
        default=("127.0.0.1", "::1"),
        description="Addresses to listen on; one that this host lacks is left out",
    )
    port: int | None = Field(
        default=None, ge=0, le=65535, description="Port to listen on; 0: any free one; empty: not served"
    )
    connections: int = Field(default=800, ge=1, description="Connections that are kept at once")
    connections_per_address: int = Field(
        default=200,
        ge=1,
        description="Of these, from one IPv4 address or IPv6 /64; one more ends the longest silent",
    )

    @field_validator("port", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        """A variable that is there and empty."""
        return value or None if isinstance(value, str) else value
