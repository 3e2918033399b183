"""Counters of interfaces from /sys, and of WireGuard's peers, without a secret of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from node_agent.apply.links.observing import PeerOnHost, WireGuardOnHost
from shared.protocol.reports import MAX_COUNTERS, CounterReading, LinkKind

_SYS = Path("/sys/class/net")
_LOOPBACK_TYPE = 772
#: Point-to-point and tunnel types of Linux (`if_arp.h`): none (TUN, WireGuard), IPIP, IPv6 tunnel, SIT, GRE.
_TUNNEL_TYPES = frozenset({65534, 768, 769, 776, 778, 823})
_MEGABIT = 1_000_000


@dataclass(frozen=True, slots=True)
class InterfaceCounters:
    """One interface as the kernel counts it. The kernel's counters have 64 bits."""

    name: str
    index: int
    kind: LinkKind
    received_bytes: int
    sent_bytes: int
    received_packets: int
    sent_packets: int
    link_bits: int | None


def read_interfaces(directory: Path = _SYS) -> list[InterfaceCounters]:
    """Every interface but the loopback; one that goes away while it is read is left out."""
    found = []
    with suppress(OSError):
        for place in sorted(directory.iterdir()):
            with suppress(OSError, ValueError):
                if (counters := _read(place)) is not None:
                    found.append(counters)
    return found


def _read(place: Path) -> InterfaceCounters | None:
    type_number = _number(place / "type")
    if type_number == _LOOPBACK_TYPE:
        return None
    statistics = place / "statistics"
    return InterfaceCounters(
        name=place.name,
        index=_number(place / "ifindex"),
        kind=_kind(place, type_number),
        received_bytes=_number(statistics / "rx_bytes"),
        sent_bytes=_number(statistics / "tx_bytes"),
        received_packets=_number(statistics / "rx_packets"),
        sent_packets=_number(statistics / "tx_packets"),
        link_bits=_speed(place),
    )


def _kind(place: Path, type_number: int) -> LinkKind:
    if type_number in _TUNNEL_TYPES:
        return LinkKind.TUNNEL
    return LinkKind.PHYSICAL if (place / "device").exists() else LinkKind.OTHER


def _speed(place: Path) -> int | None:
    # Links without a speed answer with an error, or with -1.
    with suppress(OSError, ValueError):
        megabits = _number(place / "speed")
        return megabits * _MEGABIT if megabits > 0 else None
    return None


def _number(path: Path) -> int:
    return int(path.read_text(encoding="ascii").strip())


class Epochs:
    """Names the epoch of each counter: another one when the counter begins anew.

    A counter of an interface begins anew with the host and with the interface. One of a peer begins anew with
    its interface as well, and when the peer was gone between two looks; if it went and came between them, its
    numbers are lower, which is seen by whoever takes the difference.
    """

    def __init__(self, boot_id: str) -> None:
        self._boot = boot_id
        self._appearances: dict[tuple[str, str], int] = {}
        self._present: set[tuple[str, str]] = set()

    def look(self, present: set[tuple[str, str]]) -> None:
        """These peers are there now."""
        for peer in present - self._present:
            self._appearances[peer] = self._appearances.get(peer, 0) + 1
        self._present = present

    def of_interface(self, counters: InterfaceCounters) -> str:
        """The epoch of an interface."""
        return f"{self._boot}:{counters.index}"

    def of_peer(self, counters: InterfaceCounters, key: str) -> str:
        """The epoch of a peer that is there."""
        return f"{self.of_interface(counters)}:{self._appearances.get((counters.name, key), 0)}"


def readings(
    interfaces: list[InterfaceCounters], seen: Mapping[str, WireGuardOnHost] | None, epochs: Epochs
) -> tuple[CounterReading, ...]:
    """Every counter, as many as one sample may hold. Peers that nobody looked at are not gone for that."""
    tunnels = seen or {}
    peers = {(name, peer.public_key) for name, tunnel in tunnels.items() for peer in tunnel.peers}
    if seen is not None:
        epochs.look(peers)
    found: list[CounterReading] = []
    for counters in interfaces:
        tunnel = tunnels.get(counters.name)
        found.append(_of_interface(counters, epochs, is_tunnel=tunnel is not None))
        found += (_of_peer(counters, peer, epochs) for peer in (tunnel.peers if tunnel else ()))
    return tuple(found[:MAX_COUNTERS])


def _of_peer(counters: InterfaceCounters, peer: PeerOnHost, epochs: Epochs) -> CounterReading:
    return CounterReading(
        interface=counters.name,
        peer=peer.public_key,
        kind=LinkKind.TUNNEL,
        epoch=epochs.of_peer(counters, peer.public_key),
        received_bytes=peer.received_bytes,
        sent_bytes=peer.sent_bytes,
    )


def _of_interface(counters: InterfaceCounters, epochs: Epochs, *, is_tunnel: bool) -> CounterReading:
    return CounterReading(
        interface=counters.name,
        kind=LinkKind.TUNNEL if is_tunnel else counters.kind,
        epoch=epochs.of_interface(counters),
        received_bytes=counters.received_bytes,
        sent_bytes=counters.sent_bytes,
        received_packets=counters.received_packets,
        sent_packets=counters.sent_packets,
        link_bits=counters.link_bits,
    )
