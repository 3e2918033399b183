"""What concerns the router itself: identity, kernel, own and static routes, BIRD's own log."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from shared.protocol.desired_state.names import Asn, InterfaceName, Part
from shared.protocol.enrolment import NODE_ID_PATTERN

NodeId = Annotated[str, StringConstraints(pattern=NODE_ID_PATTERN)]
DebugFlag = Literal["states", "routes", "filters", "interfaces", "events", "packets"]
LogClass = Literal["debug", "trace", "info", "remote", "warning", "error", "auth", "fatal", "bug"]


class NodeIdentity(Part):
    """Who the router is."""

    id: NodeId
    number: int = Field(ge=1, le=65_535, description="Value of the large community that names the node")
    asn: Asn
    router_id: IPv4Address = Field(description="BGP identifier (RFC 4271, section 4.2)")
    hostname: str = Field(default="", max_length=253, pattern=r"^[A-Za-z0-9.-]*$")
    loopback4: IPv4Address | None = None
    loopback6: IPv6Address | None = None
    prefixes4: tuple[IPv4Network, ...] = ()
    prefixes6: tuple[IPv6Network, ...] = ()
    #: An own prefix that the registry holds a route origin authorisation for: it proves that the cache works.
    proof4: IPv4Network | None = None
    proof6: IPv6Network | None = None
    region: int = Field(default=0, ge=0, le=70, description="dn42 region community, 41 to 70; 0 is unset")
    country: int = Field(default=0, ge=0, le=1999, description="dn42 country community, 1000 + ISO 3166-1")
    draining: bool = Field(default=False, description="Graceful shutdown of all sessions (RFC 8326)")


class LogOptions(Part):
    """What BIRD writes about itself, and where."""

    target: Literal["syslog", "stderr"] = "syslog"
    classes: tuple[LogClass, ...] = ("info", "remote", "warning", "error", "auth", "fatal", "bug")
    debug: tuple[DebugFlag, ...] = ("states",)


class KernelOptions(Part):
    """How routes reach the kernel."""

    metric: int = Field(default=512, ge=1, le=65_535)
    scan_seconds: int = Field(default=20, ge=1, le=3600)
    table: int | None = Field(default=None, ge=1, le=4_294_967_295)
    ecmp: int | None = Field(default=None, ge=2, le=64, description="Next hops merged into one route")
    prefer_source: bool = Field(default=True, description="Own loopback as source of what leaves")
    persist: bool = Field(default=False, description="Routes stay when BIRD stops")
    graceful_restart: bool = Field(default=False, description="Routes stay over a restart; BIRD runs with -R")
    own_unreachable: bool = Field(default=True, description="Own aggregates as unreachable in the kernel")


class StaticRoute(Part):
    """A route that the operator sets by hand."""

    prefix: IPv4Network | IPv6Network
    interface: InterfaceName | None = None
    gateway: IPv4Address | IPv6Address | None = None
    kind: Literal["via", "unreachable", "blackhole", "prohibit"] = "via"

    @model_validator(mode="after")
    def _one_way(self) -> StaticRoute:
        ways = (self.interface is not None) + (self.gateway is not None)
        if (self.kind == "via") != (ways == 1):
            message = "a route via something names either an interface or a gateway; other kinds name neither"
            raise ValueError(message)
        return self


class AnycastInterface(Part):
    """An interface that carries service addresses, announced while it is up (anycast)."""

    interface: Annotated[str, StringConstraints(pattern=r"^rl-[a-z0-9-]{1,12}$")]
    addresses: tuple[IPv4Interface | IPv6Interface, ...] = Field(min_length=1)
