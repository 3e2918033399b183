"""Wire shapes of pools."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from control_server.policy.schemas import FactForm

PoolName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]
_LEAST_LENGTH = {4: 16, 6: 48}
_GREATEST_PORT = 65_535


class PoolKind(StrEnum):
    """What a pool gives out."""

    LOOPBACK4 = "loopback4"
    LOOPBACK6 = "loopback6"
    WIREGUARD_PORT = "wireguard_port"
    NODE_NUMBER = "node_number"

    @property
    def per_node(self) -> bool:
        """Whether two nodes may have the same value."""
        return self is PoolKind.WIREGUARD_PORT


class PoolCreate(BaseModel):
    """A new pool: a network for loopbacks, a range such as `51820-51999` for ports and numbers."""

    model_config = ConfigDict(extra="forbid")

    name: PoolName
    kind: PoolKind
    range: str = Field(max_length=64, examples=["172.20.99.0/27", "51820-51999"])

    @field_validator("range")
    @classmethod
    def _fits(cls, text: str, read: ValidationInfo) -> str:
        if (kind := read.data.get("kind")) is not None:
            check_range(kind, text)
        return text


class PoolChange(BaseModel):
    """Another range of a pool. Everything that is given out stays inside it."""

    model_config = ConfigDict(extra="forbid")

    range: str = Field(max_length=64)


class PoolForm(FactForm):
    """The form of a pool as it was typed."""

    name: str = ""
    kind: str = "wireguard_port"
    range: str = ""


class PoolRead(BaseModel):
    """A pool, and how much of it is given out."""

    name: str
    kind: PoolKind
    range: str
    size: int
    used: int
    version: int = Field(description="Send it as `If-Match` when you change it")
    created_at: datetime


class PoolList(BaseModel):
    """All pools by name."""

    items: list[PoolRead]
    total: int


class AllocationRead(BaseModel):
    """One value and who has it."""

    value: str
    scope: str = Field(description="The node that it is given out on; empty: in the whole fleet")
    holder: str
    created_at: datetime


class AllocationList(BaseModel):
    """What a pool has given out."""

    items: list[AllocationRead]
    total: int


def check_range(kind: PoolKind, text: str) -> None:
    """Refuse a range that a pool of this kind cannot have. Raises ValueError."""
    if kind in {PoolKind.LOOPBACK4, PoolKind.LOOPBACK6}:
        _check_network(text, 4 if kind is PoolKind.LOOPBACK4 else 6)
    else:
        _check_numbers(text)


def _check_network(text: str, version: int) -> None:
    try:
        network = IPv4Network(text) if version == 4 else IPv6Network(text)  # noqa: PLR2004
    except ValueError:
        message = (
            f"write an IPv{version} network such as {'172.20.99.0/27' if version == 4 else 'fd42:9900::/64'}"  # noqa: PLR2004
        )
        raise ValueError(message) from None
    if network.prefixlen < _LEAST_LENGTH[version]:
        message = f"a network of at most /{_LEAST_LENGTH[version]}"
        raise ValueError(message)


def _check_numbers(text: str) -> None:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= _GREATEST_PORT):
        message = f"write two numbers from 1 to {_GREATEST_PORT}, such as 51820-51999"
        raise ValueError(message)
