"""The smallest change from the interfaces that are there to those that should be; nothing is done here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address

from node_agent.apply.commands import HostTool
from node_agent.apply.links.observing import (
    HostAddress,
    HostLinks,
    InterfaceOnHost,
    PeerOnHost,
    fingerprint,
)
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.links import WireGuardLink
from shared.protocol.desired_state.names import LinkAddress

_LOOPBACK = "lo"


@dataclass(frozen=True, slots=True)
class Step:
    """One command. Its standard input may hold a secret and is never shown."""

    tool: HostTool
    arguments: tuple[str, ...]
    stdin: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """A change of one interface, in words and in commands."""

    text: str
    steps: tuple[Step, ...]
    #: Tried when the first command fails, such as WireGuard in userspace where the kernel has none.
    otherwise: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnSecrets:
    """What only the node has: its private key, and preshared keys by interface."""

    private_key: str
    public_key: str
    preshared: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """What comes before the routing daemon is told, and what has to wait until it has let go."""

    before: tuple[Action, ...]
    after: tuple[Action, ...]
    #: Interfaces that the agent made, or will have made: it removes no other.
    owned: frozenset[str]
    #: Addresses that the agent has put on interfaces of others, by interface.
    lent: Mapping[str, tuple[HostAddress, ...]]

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done."""
        return not self.before and not self.after


@dataclass(frozen=True, slots=True)
class Possessions:
    """What earlier passes have made."""

    owned: frozenset[str] = frozenset()
    lent: Mapping[str, tuple[HostAddress, ...]] = field(default_factory=dict)


def plan_links(state: DesiredState, host: HostLinks, secrets: OwnSecrets, before: Possessions) -> LinkPlan:
    """Compare and answer what to do. Passing the result's own outcome in again gives an empty plan."""
    wanted = _wanted_addresses(state)
    tunnels = [link for link in state.links if isinstance(link, WireGuardLink)]
    made = {link.interface for link in tunnels} | {entry.interface for entry in state.anycast}
    actions = [action for link in tunnels for action in _tunnel(link, host.get(link.interface), secrets)]
    for entry in state.anycast:
        actions += _anycast(entry.interface, host.get(entry.interface))
    for name, addresses in wanted.items():
        lent = () if name in made else before.lent.get(name, ())
        mtu = next((link.mtu for link in state.links if link.interface == name), None)
        actions += _settle(name, host.get(name), _Wish(addresses, mtu, name in made, frozenset(lent)))
    gone = sorted(name for name in before.owned - made if host.get(name) is not None)
    lent_now = {
        name: tuple(sorted(_lent(addresses, host.get(name), frozenset(before.lent.get(name, ())))))
        for name, addresses in wanted.items()
        if name not in made
    }
    returned = [
        action
        for name, addresses in before.lent.items()
        if name not in wanted and (there := host.get(name)) is not None
        for action in _removed(name, frozenset(addresses) & there.addresses)
    ]
    removals = [Action(f"remove {name}", (_ip("link", "delete", "dev", name),)) for name in gone]
    return LinkPlan(tuple(actions), (*returned, *removals), frozenset(made), lent_now)


def _lent(
    wanted: frozenset[HostAddress], there: InterfaceOnHost | None, before: frozenset[HostAddress]
) -> frozenset[HostAddress]:
    """What is ours on an interface of others: not an address that was there before we came."""
    present = there.addresses if there is not None else frozenset[HostAddress]()
    return wanted & (before | (wanted - present))


@dataclass(frozen=True, slots=True)
class _Wish:
    addresses: frozenset[HostAddress]
    mtu: int | None
    own: bool
    #: Addresses of ours on an interface that is not: only these may be taken away there.
    lent: frozenset[HostAddress]


def _wanted_addresses(state: DesiredState) -> dict[str, frozenset[HostAddress]]:
    wanted: dict[str, set[HostAddress]] = {}
    for link in state.links:
        wanted.setdefault(link.interface, set()).update(map(_host_address, link.addresses))
    for entry in state.anycast:
        wanted.setdefault(entry.interface, set()).update(HostAddress(str(a)) for a in entry.addresses)
    loopbacks = [a for a in (state.node.loopback4, state.node.loopback6) if a is not None]
    if loopbacks and state.routing:
        own = wanted.setdefault(_LOOPBACK, set())
        own.update(HostAddress(f"{address}/{address.max_prefixlen}") for address in loopbacks)
    return {name: frozenset(addresses) for name, addresses in wanted.items()}


def _host_address(address: LinkAddress) -> HostAddress:
    own = address.address
    if address.peer is None:
        return HostAddress(str(own))
    return HostAddress(f"{own.ip}/{own.max_prefixlen}", str(address.peer))


def _tunnel(link: WireGuardLink, there: InterfaceOnHost | None, secrets: OwnSecrets) -> Iterator[Action]:
    name = link.interface
    userspace = (Step(HostTool.WIREGUARD_GO, (name,)), _quiet(name))
    if there is None and link.userspace:
        yield Action(f"create {name}", userspace)
    elif there is None:
        kernel = (_ip("link", "add", "dev", name, "type", "wireguard"), _quiet(name))
        yield Action(f"create {name}", kernel, userspace)
    if there is None or not _same_tunnel(link, there, secrets):
        yield Action(
            f"configure {name}",
            (_configure(link, secrets, link.endpoint),),
            # A name that cannot be looked up now is looked up later; the rest need not wait for it.
            () if link.endpoint is None or literal(link.endpoint) else (_configure(link, secrets, None),),
        )


def _same_tunnel(link: WireGuardLink, there: InterfaceOnHost, secrets: OwnSecrets) -> bool:
    tunnel = there.wireguard
    if tunnel is None or tunnel.public_key != secrets.public_key or len(tunnel.peers) != 1:
        return False
    if link.listen_port is not None and tunnel.listen_port != link.listen_port:
        return False
    return _same_peer(link, tunnel.peers[0], secrets.preshared.get(link.interface))


def _same_peer(link: WireGuardLink, peer: PeerOnHost, preshared: str | None) -> bool:
    return (
        peer.public_key == link.peer_public_key
        and peer.preshared_fingerprint == (None if preshared is None else fingerprint(preshared))
        and peer.allowed_ips == frozenset(map(str, link.allowed_ips))
        and peer.keepalive == link.keepalive
        and _same_endpoint(link.endpoint, peer.endpoint)
    )


def _same_endpoint(wanted: str | None, there: str | None) -> bool:
    """A peer may roam, and a name may resolve to anything: only a literal address that never was is wrong."""
    if wanted is None or there is None:
        return wanted is None or not literal(wanted)
    return True


def literal(endpoint: str) -> bool:
    """Whether the endpoint is an address and needs no look-up."""
    host = endpoint.rpartition(":")[0].strip("[]")
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _configure(link: WireGuardLink, secrets: OwnSecrets, endpoint: str | None) -> Step:
    lines = ["[Interface]", f"PrivateKey = {secrets.private_key}"]
    if link.listen_port is not None:
        lines.append(f"ListenPort = {link.listen_port}")
    lines += ["[Peer]", f"PublicKey = {link.peer_public_key}"]
    if (preshared := secrets.preshared.get(link.interface)) is not None:
        lines.append(f"PresharedKey = {preshared}")
    if endpoint is not None:
        lines.append(f"Endpoint = {endpoint}")
    lines.append(f"AllowedIPs = {', '.join(map(str, link.allowed_ips))}")
    if link.keepalive is not None:
        lines.append(f"PersistentKeepalive = {link.keepalive}")
    text = "\n".join(lines) + "\n"
    return Step(HostTool.WG, ("syncconf", link.interface, "/dev/stdin"), text)


def _anycast(name: str, there: InterfaceOnHost | None) -> Iterator[Action]:
    if there is None:
        # A host whose kernel has no dummy interfaces takes a bridge without ports.
        yield Action(
            f"create {name}",
            (_ip("link", "add", "dev", name, "type", "dummy"), _quiet(name)),
            (_ip("link", "add", "dev", name, "type", "bridge"), _quiet(name)),
        )


def _settle(name: str, there: InterfaceOnHost | None, wish: _Wish) -> Iterator[Action]:
    present = there.addresses if there is not None else frozenset[HostAddress]()
    if there is not None:
        ours = {address for address in present if wish.own and not _made_by_kernel(address)} | wish.lent
        yield from _removed(name, (ours & present) - wish.addresses)
    for address in sorted(wish.addresses - present):
        yield Action(f"add {_told(address)} to {name}", (_ip(*_add(address), "dev", name),))
    if wish.mtu is not None and (there is None or there.mtu != wish.mtu):
        yield Action(
            f"set mtu {wish.mtu} on {name}", (_ip("link", "set", "dev", name, "mtu", str(wish.mtu)),)
        )
    if there is None or not there.up:
        yield Action(f"bring {name} up", (_ip("link", "set", "dev", name, "up"),))


def _removed(name: str, addresses: Iterable[HostAddress]) -> Iterator[Action]:
    for address in sorted(addresses):
        peer = ("peer", address.peer) if address.peer else ()
        step = _ip("address", "delete", address.text, *peer, "dev", name)
        yield Action(f"remove {_told(address)} from {name}", (step,))


def _made_by_kernel(address: HostAddress) -> bool:
    return ip_address(address.text.partition("/")[0]).is_loopback


def _add(address: HostAddress) -> tuple[str, ...]:
    peer = ("peer", address.peer) if address.peer else ()
    nodad = ("nodad",) if address.family == 6 else ()  # noqa: PLR2004
    return ("address", "add", address.text, *peer, *nodad)


def _told(address: HostAddress) -> str:
    return f"{address.text} peer {address.peer}" if address.peer else address.text


def _quiet(name: str) -> Step:
    """No link-local address of the kernel's own choice, which a session could take for its source."""
    return _ip("link", "set", "dev", name, "addrgenmode", "none")


def _ip(*arguments: str) -> Step:
    return Step(HostTool.IP, arguments)
