"""The interfaces that are there, by `ip -json` and `wg show all dump`, without a secret."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address, ip_interface
from typing import Any

from node_agent.apply.commands import HostTool, find_tool, run

_ROW_OF_INTERFACE = 5
_ROW_OF_PEER = 9
#: Some implementations print an age here; an epoch of this century is larger.
_LEAST_EPOCH = 1_000_000_000
#: `ip` prints this flag for the lower layer; a tunnel's own state is UNKNOWN even when it works.
_UP = "UP"


@dataclass(frozen=True, slots=True, order=True)
class HostAddress:
    """An address as `ip addr` takes it."""

    text: str
    peer: str | None = None

    @property
    def family(self) -> int:
        """4 or 6."""
        return ip_interface(self.text).version


@dataclass(frozen=True, slots=True)
class PeerOnHost:
    """One peer of a WireGuard interface, without its preshared key."""

    public_key: str
    #: Of the preshared key, to see that it changed; None without one. Shown nowhere.
    preshared_fingerprint: str | None = field(repr=False)
    endpoint: str | None
    allowed_ips: frozenset[str]
    latest_handshake: datetime | None
    received_bytes: int
    sent_bytes: int
    keepalive: int | None


@dataclass(frozen=True, slots=True)
class WireGuardOnHost:
    """A WireGuard interface, without its private key."""

    public_key: str
    listen_port: int
    peers: tuple[PeerOnHost, ...] = ()


@dataclass(frozen=True, slots=True)
class InterfaceOnHost:
    """A network interface."""

    name: str
    kind: str
    up: bool
    mtu: int
    addresses: frozenset[HostAddress] = frozenset()
    wireguard: WireGuardOnHost | None = None


@dataclass(frozen=True, slots=True)
class HostLinks:
    """All interfaces by name."""

    by_name: Mapping[str, InterfaceOnHost] = field(default_factory=dict)

    def get(self, name: str) -> InterfaceOnHost | None:
        """The interface, if it is there."""
        return self.by_name.get(name)


def fingerprint(secret: str) -> str:
    """Tells two secrets apart without being one."""
    return hashlib.sha256(secret.encode()).hexdigest()


async def observe_links() -> HostLinks:
    """Look at the host. Raises HostToolMissing or HostCommandFailed."""
    shown = json.loads(await run(HostTool.IP, ("-json", "-details", "address", "show")) or "[]")
    tunnels = (
        parse_wireguard(await run(HostTool.WG, ("show", "all", "dump"))) if find_tool(HostTool.WG) else {}
    )
    return HostLinks({entry["ifname"]: _interface(entry, tunnels) for entry in shown if entry.get("ifname")})


def parse_wireguard(dump: str) -> dict[str, WireGuardOnHost]:
    """Interfaces of `wg show all dump`; private and preshared keys are dropped here and go nowhere."""
    keys: dict[str, tuple[str, int]] = {}
    peers: dict[str, list[PeerOnHost]] = {}
    for line in dump.splitlines():
        fields = line.split("\t")
        if len(fields) == _ROW_OF_INTERFACE:
            keys[fields[0]] = (fields[2], int(fields[3]))
        elif len(fields) == _ROW_OF_PEER:
            peers.setdefault(fields[0], []).append(_peer(fields))
    return {
        name: WireGuardOnHost(public, port, tuple(peers.get(name, ())))
        for name, (public, port) in keys.items()
    }


def _peer(fields: list[str]) -> PeerOnHost:
    _, key, preshared, endpoint, allowed, handshake, received, sent, keepalive = fields
    seconds = int(handshake)
    return PeerOnHost(
        public_key=key,
        preshared_fingerprint=None if preshared == "(none)" else fingerprint(preshared),
        endpoint=None if endpoint == "(none)" else endpoint,
        allowed_ips=frozenset() if allowed == "(none)" else frozenset(allowed.split(",")),
        latest_handshake=datetime.fromtimestamp(seconds, tz=UTC) if seconds >= _LEAST_EPOCH else None,
        received_bytes=int(received),
        sent_bytes=int(sent),
        keepalive=None if keepalive == "off" else int(keepalive),
    )


def _interface(entry: Mapping[str, Any], tunnels: Mapping[str, WireGuardOnHost]) -> InterfaceOnHost:
    name = entry["ifname"]
    kind = (entry.get("linkinfo") or {}).get("info_kind") or entry.get("link_type", "")
    return InterfaceOnHost(
        name=name,
        kind="wireguard" if name in tunnels else str(kind),
        up=_UP in entry.get("flags", ()),
        mtu=int(entry.get("mtu", 0)),
        addresses=frozenset(_address(info) for info in entry.get("addr_info", ()) if info.get("local")),
        wireguard=tunnels.get(name),
    )


def _address(info: Mapping[str, Any]) -> HostAddress:
    local, length, peer = info["local"], info["prefixlen"], info.get("address")
    if peer is None:
        return HostAddress(f"{ip_address(local)}/{length}")
    return HostAddress(f"{ip_address(local)}/{ip_address(local).max_prefixlen}", str(ip_address(peer)))
