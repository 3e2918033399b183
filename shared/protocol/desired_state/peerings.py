"""Sessions with other networks."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Literal

from pydantic import Field, model_validator

from shared.protocol.desired_state.names import (
    Asn,
    InterfaceName,
    Number32,
    Part,
    PeeringName,
    PrefixRange,
    Sealed,
    Seconds,
    Text,
    or_off,
)
from shared.protocol.desired_state.routing import BfdTimers

LimitAction = Literal["warn", "block", "restart", "disable"]
BgpRole = Literal["peer", "provider", "customer", "rs_server", "rs_client"]
Family = Literal[4, 6]


class PrefixLimit(Part):
    """At most this many prefixes a family, and what happens beyond."""

    prefixes: int = Field(ge=1, le=10_000_000)
    action: LimitAction = "block"


class Timers(Part):
    """BGP timers (RFC 4271, section 10)."""

    hold: int = Field(default=90, ge=3, le=65_535)
    keepalive: int = Field(default=30, ge=1, le=21_845)
    connect_retry: Seconds = 10
    error_wait: tuple[Seconds, Seconds] = (5, 60)

    @model_validator(mode="after")
    def _in_order(self) -> Timers:
        if self.keepalive * 3 > self.hold:
            message = "keepalive must be at most a third of hold"
            raise ValueError(message)
        if self.error_wait[0] > self.error_wait[1]:
            message = "error_wait must grow"
            raise ValueError(message)
        return self


class LinkQuality(Part):
    """dn42 communities of the link: worst of what came and this leaves."""

    latency: int = Field(default=1, ge=1, le=9, description="64511:1..9, rtt <= e^n ms")
    bandwidth: int = Field(default=24, ge=21, le=29, description="64511:21..29, 10^(n-22) Mbit/s")
    crypto: int = Field(default=34, ge=31, le=36, description="64511:31..36, 31 is none, 34 is WireGuard")


class SessionPolicy(Part):
    """What this neighbour's routes are worth, and which are taken."""

    local_pref: Number32 = 100
    prepend: int = Field(default=0, ge=0, le=3)
    quality: Annotated[LinkQuality | None, or_off(LinkQuality)] = Field(
        default=LinkQuality(), description="`off`: the link leaves no mark"
    )
    #: The neighbour's own route objects; None takes what the fleet's policy takes.
    prefix_list: tuple[PrefixRange, ...] | None = None
    #: Within which it may ask for a blackhole (RFC 7999); empty: never.
    blackhole: tuple[PrefixRange, ...] = ()
    drain: bool = Field(default=False, description="Graceful shutdown (RFC 8326)")
    import_limit: Annotated[PrefixLimit | None, or_off(PrefixLimit)] = Field(
        default=PrefixLimit(prefixes=1000), description="`off`: however many there are"
    )
    receive_limit: PrefixLimit | None = None
    import_table: bool = True
    export_table: bool = False
    keep_filtered: bool = True
    preference: int | None = Field(default=None, ge=0, le=65_535)
    next_hop_self: bool = False
    cost: int | None = Field(default=None, ge=1, le=65_535)
    add_paths: Literal["off", "rx", "tx", "on"] = "off"


class BgpOptions(Part):
    """The session's own switches."""

    passive: bool = False
    password: Sealed | None = Field(default=None, description="TCP-MD5 (RFC 2385), sealed to the node")
    ttl_security: bool = Field(default=False, description="RFC 5082")
    multihop: int | None = Field(default=None, ge=2, le=255)
    timers: Timers = Timers()
    graceful_restart: Literal["off", "aware", "on"] = "aware"
    long_lived_graceful_restart: bool = False
    send_hold: int | None = Field(default=None, ge=3, le=65_535, description="RFC 9687")
    enforce_first_as: bool = True
    extended_messages: bool = True
    prefer_older: bool = False
    med_metric: bool = False
    default_local_pref: Number32 | None = None
    interpret_communities: bool = True
    advertise_hostname: bool = False
    role: BgpRole | None = Field(default=None, description="RFC 9234")
    require_roles: bool = False
    bfd: bool | BfdTimers = False


class Session(Part):
    """One neighbour on one link: a multiprotocol session, or one a family."""

    mode: Literal["multiprotocol", "split"] = "multiprotocol"
    families: tuple[Family, ...] = Field(default=(4, 6), min_length=1)
    interface: InterfaceName | None = None
    neighbor4: IPv4Address | None = None
    neighbor6: IPv6Address | None = None
    source4: IPv4Address | None = None
    source6: IPv6Address | None = None
    extended_next_hop: bool = Field(default=True, description="RFC 8950")
    require_extended_next_hop: bool = False
    options: BgpOptions = BgpOptions()
    policy: SessionPolicy = SessionPolicy()

    @model_validator(mode="after")
    def _reachable(self) -> Session:
        if len(set(self.families)) != len(self.families):
            message = "families must differ"
            raise ValueError(message)
        addresses = {4: self.neighbor4, 6: self.neighbor6}
        if self.mode == "split":
            missing = [family for family in self.families if addresses[family] is None]
            if missing:
                message = f"a session a family needs neighbor{missing[0]}"
                raise ValueError(message)
        elif self.neighbor4 is None and self.neighbor6 is None:
            message = "a multiprotocol session needs neighbor6 or neighbor4"
            raise ValueError(message)
        self._check_link_local()
        return self

    def _check_interface(self) -> None:
        if self.interface is None:
            message = "a link-local neighbor needs an interface"
            raise ValueError(message)

    def _check_link_local(self) -> None:
        if self.neighbor6 is None or not self.neighbor6.is_link_local:
            if self.source6 is not None and self.source6.is_link_local:
                message = "a link-local source6 reaches only a link-local neighbor6"
                raise ValueError(message)
            return
        self._check_interface()
        if self.options.multihop is not None:
            message = "a link-local neighbor is one hop away: multihop does not fit"
            raise ValueError(message)


class Peering(Part):
    """A relation with another network. A disabled one is absent."""

    name: PeeringName
    asn: Asn
    description: Text = ""
    session: Session


#: The values of `64511:n` that say how safe a link is.
CRYPTO_NONE = 31
CRYPTO_WIREGUARD = 34
CRYPTO_WIREGUARD_PRESHARED = 35
