"""Routing that is not one neighbour's: policy, origin validation, interior protocols, BFD, collectors."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from shared.protocol.desired_state.names import (
    Asn,
    AsnRange,
    InterfaceName,
    Name,
    Part,
    Port,
    PrefixRange,
    Sealed,
    Seconds,
)

Milliseconds = Annotated[int, Field(ge=10, le=60_000)]
InterfacePattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z*][A-Za-z0-9_.*-]{0,14}$")]


class Policy(Part):
    """What is taken from and given to other networks."""

    #: `dn42` takes what stands in `allowed`; `internet` takes what is no bogon.
    profile: Literal["dn42", "internet"] = "dn42"
    allowed4: tuple[PrefixRange, ...] | None = Field(default=None, description="None: the profile's own")
    allowed6: tuple[PrefixRange, ...] | None = None
    max_path: int = Field(default=8, ge=1, le=64, description="Longest AS path that is taken")
    bad_asn: tuple[AsnRange, ...] | None = Field(default=None, description="None: reserved numbers")
    transit_asn: tuple[Asn, ...] = Field(default=(), description="Never in a path of a peer or customer")


class RtrServer(Part):
    """A cache that speaks the RPKI-to-Router protocol (RFC 8210)."""

    name: Name
    host: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.:-]{1,253}$")]
    port: Port = 8282
    retry: Seconds = 90
    refresh: Seconds = 900
    expire: int = Field(default=172_800, ge=600, le=172_800)


class RoaEntry(Part):
    """A route origin authorisation (RFC 6482)."""

    prefix: IPv4Network | IPv6Network
    max_length: int = Field(ge=0, le=128)
    origin: Annotated[int, Field(ge=0, le=4_294_967_295)]


class RoaOptions(Part):
    """Route origin validation (RFC 6811)."""

    mode: Literal["off", "invalid", "strict"] = "invalid"
    servers: tuple[RtrServer, ...] = ()
    #: Decides while no cache proves itself; from the registry, renewed with other changes.
    snapshot: tuple[RoaEntry, ...] = ()


class BfdTimers(Part):
    """Bidirectional Forwarding Detection (RFC 5880)."""

    min_rx: Milliseconds = 300
    min_tx: Milliseconds = 300
    multiplier: int = Field(default=4, ge=1, le=255)


class BfdDefaults(Part):
    """BFD on interfaces that match, and over several hops."""

    interfaces: InterfacePattern = "*"
    timers: BfdTimers = BfdTimers()
    idle_tx: Milliseconds = 1000
    multihop_interval: Milliseconds = 1000
    multihop_multiplier: int = Field(default=5, ge=1, le=255)


class IbgpNeighbor(Part):
    """Another router of the own network."""

    name: Name
    address: IPv4Address | IPv6Address
    rr_client: bool = False


class Ibgp(Part):
    """Sessions inside the own network, over loopbacks."""

    mode: Literal["off", "full_mesh", "reflector"] = "off"
    neighbors: tuple[IbgpNeighbor, ...] = ()
    cluster_id: IPv4Address | None = Field(
        default=None, description="RFC 4456; shared by a cluster's reflectors"
    )
    bfd: bool = False


class IgpInterface(Part):
    """An inside link."""

    interface: InterfaceName
    cost: int = Field(default=20, ge=1, le=65_535)
    hello: int = Field(default=5, ge=1, le=3600)
    dead: int = Field(default=20, ge=2, le=7200)
    password: Sealed | None = None
    bfd: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> IgpInterface:
        if self.dead <= self.hello:
            message = "dead must be longer than hello"
            raise ValueError(message)
        return self


class Igp(Part):
    """The interior protocol: OSPF (RFC 2328, RFC 5340) or Babel (RFC 8966)."""

    kind: Literal["off", "ospf", "babel"] = "off"
    interfaces: tuple[IgpInterface, ...] = ()

    @model_validator(mode="after")
    def _used(self) -> Igp:
        if self.kind == "off" and self.interfaces:
            message = "interfaces without a protocol: set kind to ospf or babel"
            raise ValueError(message)
        return self


class Collector(Part):
    """A route collector: it is told everything and says nothing."""

    name: Name
    address: IPv4Address | IPv6Address
    asn: Asn
    add_paths: bool = True
