"""Interfaces that the agent makes or minds: tunnels and plain links."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from shared.protocol.desired_state.names import (
    InterfaceName,
    Keepalive,
    LinkAddress,
    Part,
    Port,
    PublicKey,
    Sealed,
)

#: What a tunnel carries unless somebody says less.
EVERYTHING = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))
#: Host name or address, then the port; an IPv6 address stands in brackets.
Endpoint = Annotated[
    str, StringConstraints(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253}):[0-9]{1,5}$")
]


class WireGuardLink(Part):
    """A WireGuard tunnel with one peer. The private key is the node's own and never leaves it."""

    kind: Literal["wireguard"] = "wireguard"
    interface: InterfaceName
    addresses: tuple[LinkAddress, ...] = ()
    mtu: int = Field(default=1420, ge=1280, le=9000)
    listen_port: Port | None = None
    peer_public_key: PublicKey
    endpoint: Endpoint | None = Field(default=None, description="None: the other side begins")
    allowed_ips: tuple[IPv4Network | IPv6Network, ...] = EVERYTHING
    keepalive: Keepalive = Field(default=25, description="Seconds; `off` or 0: none")
    preshared_key: Sealed | None = None
    userspace: bool = Field(default=False, description="wireguard-go in place of the kernel's module")

    @model_validator(mode="after")
    def _reachable(self) -> WireGuardLink:
        if self.endpoint is None and self.listen_port is None:
            message = "a tunnel needs an endpoint or a listen_port, else nobody can begin"
            raise ValueError(message)
        return self


class PlainLink(Part):
    """An interface that is there already (veth, physical): the agent sets its addresses and brings it up."""

    kind: Literal["plain"] = "plain"
    interface: InterfaceName
    addresses: tuple[LinkAddress, ...] = ()
    mtu: int | None = Field(default=None, ge=1280, le=65_535)


Link = Annotated[WireGuardLink | PlainLink, Field(discriminator="kind")]
