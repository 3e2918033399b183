"""Wire shapes of peerings and links."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from control_server.neighbours.schemas import RegistryFilter
from shared.protocol.desired_state.links import Endpoint
from shared.protocol.desired_state.names import (
    Asn,
    InterfaceName,
    Keepalive,
    LinkAddress,
    PeeringName,
    Port,
    PublicKey,
    Sealed,
    Text,
)
from shared.protocol.desired_state.node import NodeId
from shared.protocol.desired_state.peerings import Session

_KEY_BYTES = 32
_GREATEST_PASSWORD = 80

RowId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{12}$")]


class TunnelFacts(BaseModel):
    """A WireGuard tunnel to the neighbour."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["wireguard"] = "wireguard"
    interface: InterfaceName | None = Field(
        default=None, description="By default `wg-` and the peering's name"
    )
    peer_public_key: PublicKey
    endpoint: Endpoint | None = Field(
        default=None, description="Where the neighbour listens; empty: it begins"
    )
    listen_port: Port | None = Field(default=None, description="Given out when left empty")
    addresses: list[LinkAddress] = Field(
        default_factory=list, max_length=8, description="Beside the node's link-local address"
    )
    allowed_ips: list[IPv4Network | IPv6Network] | None = Field(default=None, max_length=64)
    mtu: int = Field(default=1420, ge=1280, le=9000)
    keepalive: Keepalive = Field(default=25, description="Seconds; `off` or 0: none")
    userspace: bool = False
    preshared_key: Sealed | None = None


def _check_plain(name: str) -> str:
    if name == "lo" or name.startswith("rl-"):
        message = "loopback and interfaces that begin with rl- are ours and no links"
        raise ValueError(message)
    return name


class PlainFacts(BaseModel):
    """An interface that the host has already."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["plain"] = "plain"
    interface: Annotated[InterfaceName, AfterValidator(_check_plain)]
    addresses: list[LinkAddress] = Field(default_factory=list, max_length=8)
    mtu: int | None = Field(default=None, ge=1280, le=65_535)


class SessionFacts(Session):
    """A session as operators write it: what follows from its link may be left out."""

    def _check_interface(self) -> None:
        """The link says the interface."""


class PeeringDocument(BaseModel):
    """The parts of a peering that its row keeps together."""

    model_config = ConfigDict(extra="forbid")

    link: Annotated[TunnelFacts | PlainFacts, Field(discriminator="kind")]
    session: SessionFacts
    registry_filter: RegistryFilter | None = Field(
        default=None,
        description="Take only what the registry lets the neighbour originate; null: what the policy takes",
    )


def _check_preshared(secret: SecretStr) -> SecretStr:
    try:
        raw = base64.b64decode(secret.get_secret_value(), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _KEY_BYTES:
        message = "write the output of `wg genpsk`: 32 bytes in base64"
        raise ValueError(message)
    return secret


def _check_password(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if not (
        0 < len(text) <= _GREATEST_PASSWORD and text.isascii() and text.isprintable() and '"' not in text
    ):
        message = f"1 to {_GREATEST_PASSWORD} printable ASCII characters, no quotation mark"
        raise ValueError(message)
    return secret


class PeeringSecrets(BaseModel):
    """Secrets on their way in. They are sealed to the node at once and never shown again."""

    preshared_key: Annotated[SecretStr, AfterValidator(_check_preshared)] | None = None
    password: Annotated[SecretStr, AfterValidator(_check_password)] | None = Field(
        default=None, description="TCP-MD5 password of the session (RFC 2385)"
    )


class PeeringCreate(PeeringDocument, PeeringSecrets):
    """A new peering."""

    node_id: NodeId
    name: PeeringName = Field(description="Names the session, the tunnel and the file")
    asn: Asn
    description: Text = ""
    enabled: bool = True


class PeeringUpdate(PeeringSecrets):
    """Changes of a peering. `link` and `session` are merged as RFC 7396 says; null takes the default."""

    model_config = ConfigDict(extra="forbid")

    asn: Asn | None = None
    description: Text | None = None
    enabled: bool | None = None
    link: dict[str, Any] | None = None
    session: dict[str, Any] | None = None
    registry_filter: RegistryFilter | None = Field(default=None, description="Null takes the filter away")


class PeeringRead(PeeringDocument):
    """A peering as it stands. Sealed secrets are shown as being there and no more."""

    id: str
    node_id: str
    name: str
    asn: int
    description: str
    enabled: bool
    version: int = Field(description="Send it as `If-Match` when you change it")
    has_preshared_key: bool
    has_password: bool
    created_at: datetime
    updated_at: datetime


class PeeringList(BaseModel):
    """Peerings by node and name."""

    items: list[PeeringRead]
    total: int


class LinkDocument(BaseModel):
    """A link between two own nodes. What is named after one end is that end's."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["wireguard", "plain"] = "wireguard"
    interface_a: InterfaceName | None = Field(default=None, description="By default `wg-` and the other node")
    interface_b: InterfaceName | None = None
    port_a: Port | None = Field(default=None, description="Given out when left empty")
    port_b: Port | None = None
    mtu: int = Field(default=1420, ge=1280, le=9000)
    keepalive: Keepalive = Field(default=25, description="Seconds; `off` or 0: none")
    cost: int = Field(default=20, ge=1, le=65_535, description="For the interior protocol, on both ends")
    userspace: bool = False


class LinkCreate(LinkDocument):
    """A new link. The order of the ends does not matter."""

    node_a: NodeId
    node_b: NodeId
    enabled: bool = True


class LinkUpdate(BaseModel):
    """Changes of a link; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool | None = None
    link: dict[str, Any] | None = Field(default=None, description="Merged into the link (RFC 7396)")


class LinkRead(LinkDocument):
    """A link as it stands."""

    id: str
    node_a: str
    node_b: str
    enabled: bool
    version: int
    created_at: datetime
    updated_at: datetime


class LinkList(BaseModel):
    """Links by their ends."""

    items: list[LinkRead]
    total: int


class OtherSide(BaseModel):
    """What the neighbour puts on its router, ready to paste but for its own private key and filters."""

    asn: int = Field(description="Of the neighbour")
    node_asn: int
    public_key: str | None = Field(description="Of the node; None before its agent has told its keys")
    endpoint: str | None = Field(description="Where the node listens; None where no one said it")
    addresses: list[str] = Field(description="Of the node on the link")
    wireguard: str | None = Field(description="For wg-quick(8); None where the link is no tunnel")
    bird: str
    frr: str = Field(description="For `vtysh`, or frr.conf")
    openbgpd: str = Field(description="For bgpd.conf; OpenBGPD wants its own `AS` line before it")


class SessionSeen(BaseModel):
    """What the node's BIRD said of a session last."""

    state: Literal["ok", "down", "unknown"] = "unknown"
    word: str = ""
    error: str = ""
    since: datetime | None = None
    imported: int | None = None
    filtered: int | None = None
    exported: int | None = None
