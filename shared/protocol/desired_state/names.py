"""Words from which a desired state is made: numbers, names and texts that BIRD and the kernel take."""

from __future__ import annotations

import re
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
)
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

#: BIRD's parser, and with it a running daemon, dies of a string of 4096 bytes; this is far below.
MAX_TEXT_BYTES = 200
#: `IFNAMSIZ` of Linux less the closing NUL.
MAX_INTERFACE_CHARACTERS = 15


class Part(BaseModel):
    """A piece of a desired state: unknown fields are refused, nothing changes after it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _short(text: str) -> str:
    if len(text.encode()) > MAX_TEXT_BYTES:
        message = f"at most {MAX_TEXT_BYTES} bytes in UTF-8"
        raise ValueError(message)
    return text


def or_off(wanted: type[BaseModel]) -> BeforeValidator:
    """Lets `off` say that there is none, where null in a merge patch takes the default (RFC 7396)."""
    spellings: Any = wanted | Literal["off"] | None
    return BeforeValidator(_none_for_off, json_schema_input_type=spellings)


def _none_for_off(value: object) -> object:
    return None if value == "off" else value


Address = TypeVar("Address", IPv4Address, IPv6Address)
Network = TypeVar("Network", IPv4Network, IPv6Network)
#: Labels of letters, digits and inner hyphens; the last one has a letter, else it would be an address.
_HOST = re.compile(
    r"^(?=.*[A-Za-z][A-Za-z0-9-]*\.?$)"
    r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?$"
)


def _reaches_a_link(address: IPv6Address) -> IPv6Address:
    if not address.is_link_local:
        message = "write a link-local address such as fe80::1"
        raise ValueError(message)
    return address


def _usable(address: Address) -> Address:
    if address.is_multicast or address.is_unspecified or address.is_link_local or address.is_loopback:
        message = "write an address that other routers reach"
        raise ValueError(message)
    return address


def _set(address: IPv4Address) -> IPv4Address:
    if address.is_unspecified:
        message = "0.0.0.0 names no router (RFC 6286)"
        raise ValueError(message)
    return address


def _originable(network: Network) -> Network:
    if network.prefixlen == 0 or network.is_multicast or network.is_link_local:
        message = "a default route, a multicast or a link-local network is nobody's own"
        raise ValueError(message)
    return network


def _reachable(name: str) -> str:
    """A host name (RFC 1123) or an address; empty is none."""
    if not name or _HOST.match(name):
        return name
    try:
        ip_address(name)
    except ValueError:
        message = "write a host name or an address, without a port"
        raise ValueError(message) from None
    return name


#: Of an interface to other networks (RFC 4291).
LinkLocal = Annotated[IPv6Address, AfterValidator(_reaches_a_link)]
#: Identifier of a BGP speaker (RFC 6286).
RouterId = Annotated[IPv4Address, AfterValidator(_set)]
Loopback4 = Annotated[IPv4Address, AfterValidator(_usable)]
Loopback6 = Annotated[IPv6Address, AfterValidator(_usable)]
#: What a node may originate.
Own4 = Annotated[IPv4Network, AfterValidator(_originable)]
Own6 = Annotated[IPv6Network, AfterValidator(_originable)]
#: At which a router is reached: a host name (RFC 1123) or an address; empty is none.
Host = Annotated[str, AfterValidator(_reachable)]
#: Autonomous System number, four octets (RFC 6793); 0 is reserved (RFC 7607).
Asn = Annotated[int, Field(ge=1, le=4_294_967_295)]
#: Free text inside a BIRD string, which knows no escapes: no quotation mark, no control character.
Text = Annotated[str, StringConstraints(pattern=r'^[^"\x00-\x1f\x7f]*$'), AfterValidator(_short)]
#: Name of a peering or neighbour; symbols and files are named after it.
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
#: Names that mean something in every node's configuration, and endings that we add ourselves.
_RESERVED = frozenset(
    {
        *(
            "allowed",
            "babel",
            "bfd",
            "blackhole",
            "col",
            "device",
            "ebgp",
            "ibgp",
            "in",
            "link",
            "local",
            "mark",
        ),
        *("no", "ospf4", "ospf6", "out", "own", "own4", "own6", "kernel4", "kernel6", "roa", "roa4", "roa6"),
        *("rtr", "snap4", "snap6", "snapshot4", "snapshot6", "static4", "static6"),
    }
)
_RESERVED_STARTS = ("c_", "i_", "rtr_", "ibgp_", "kernel4_", "kernel6_")
_RESERVED_ENDS = ("_in", "_out", "_4", "_6")


def _free(name: str) -> str:
    if name in _RESERVED or name.startswith(_RESERVED_STARTS) or name.endswith(_RESERVED_ENDS):
        message = "this name is one of ours: choose another"
        raise ValueError(message)
    return name


#: Name of a peering: `rl_NAME` is its session in BIRD.
PeeringName = Annotated[Name, AfterValidator(_free)]
#: Name of a network interface (Linux).
InterfaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,14}$")]
#: X25519 public key in base64 (RFC 7748, RFC 4648).
PublicKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$")]
#: A secret sealed to the node's sealing key, base64; who carries it cannot read it.
Sealed = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{64,512}={0,2}$")]


def _none_for_zero(value: object) -> object:
    return None if value in ("off", "0", 0) else value


#: Seconds between the packets that keep a tunnel open. `off`, or 0, is none, as wg(8) has it; a merge patch
#: cannot say none with null, which takes the default.
Keepalive = Annotated[
    Annotated[int, Field(ge=1, le=65_535)] | None,
    BeforeValidator(
        _none_for_zero, json_schema_input_type=Annotated[int, Field(ge=0, le=65_535)] | Literal["off"] | None
    ),
]
#: Seconds of a protocol timer.
Seconds = Annotated[int, Field(ge=1, le=86_400)]
#: BGP local preference and other 32-bit numbers of a route.
Number32 = Annotated[int, Field(ge=0, le=4_294_967_295)]
Port = Annotated[int, Field(ge=1, le=65_535)]


class LinkAddress(Part):
    """An address of an interface, with the other end's where the link is point to point."""

    address: IPv4Interface | IPv6Interface
    peer: IPv4Address | IPv6Address | None = None

    @model_validator(mode="after")
    def _one_family(self) -> LinkAddress:
        if self.peer is not None and self.peer.version != self.address.version:
            message = "peer and address must be of one family"
            raise ValueError(message)
        return self


class PrefixRange(Part):
    """Prefixes inside `prefix` whose length lies between `shortest` and `longest`."""

    prefix: IPv4Network | IPv6Network
    shortest: int = Field(ge=0, le=128)
    longest: int = Field(ge=0, le=128)

    @model_validator(mode="after")
    def _in_order(self) -> PrefixRange:
        if not self.shortest <= self.longest <= self.prefix.max_prefixlen:
            message = f"needs shortest <= longest <= {self.prefix.max_prefixlen}"
            raise ValueError(message)
        return self


class AsnRange(Part):
    """Consecutive Autonomous System numbers, both ends included."""

    first: Annotated[int, Field(ge=0, le=4_294_967_295)]
    last: Annotated[int, Field(ge=0, le=4_294_967_295)]

    @model_validator(mode="after")
    def _in_order(self) -> AsnRange:
        if self.last < self.first:
            message = "last must not be below first"
            raise ValueError(message)
        return self
