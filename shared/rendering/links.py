"""The interfaces of a node as texts to read and compare, in the form of `wg-quick`.

The agent itself works from the desired state; the private key stands in no rendering.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared.protocol.desired_state.canonical import address_text
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.links import PlainLink, WireGuardLink
from shared.protocol.desired_state.names import LinkAddress
from shared.protocol.desired_state.node import AnycastInterface


def render_links(state: DesiredState) -> dict[str, str]:
    """One text an interface, by path."""
    texts = {f"links/{link.interface}.conf": "\n".join(_link(link)) + "\n" for link in state.links}
    for entry in state.anycast:
        texts[f"links/{entry.interface}.conf"] = "\n".join(_anycast(entry)) + "\n"
    return texts


def _link(link: WireGuardLink | PlainLink) -> Iterator[str]:
    if isinstance(link, PlainLink):
        yield f"# {link.interface}: an interface of this host; its addresses are minded"
    else:
        yield f"# {link.interface}: WireGuard{' in userspace' if link.userspace else ''}"
    yield "[Interface]"
    yield from (f"Address = {_address(address)}" for address in link.addresses)
    if link.mtu is not None:
        yield f"MTU = {link.mtu}"
    if isinstance(link, WireGuardLink):
        yield from _peer(link)


def _peer(link: WireGuardLink) -> Iterator[str]:
    if link.listen_port is not None:
        yield f"ListenPort = {link.listen_port}"
    yield "Table = off"
    yield ""
    yield "[Peer]"
    yield f"PublicKey = {link.peer_public_key}"
    if link.preshared_key is not None:
        yield f"# preshared key, sealed: {link.preshared_key}"
    if link.endpoint is not None:
        yield f"Endpoint = {link.endpoint}"
    yield f"AllowedIPs = {', '.join(map(address_text, link.allowed_ips))}"
    if link.keepalive is not None:
        yield f"PersistentKeepalive = {link.keepalive}"


def _anycast(entry: AnycastInterface) -> Iterator[str]:
    yield f"# {entry.interface}: service addresses, announced while it is up"
    yield "[Interface]"
    yield from (f"Address = {address_text(address)}" for address in entry.addresses)


def _address(address: LinkAddress) -> str:
    own = address_text(address.address)
    return own if address.peer is None else f"{own} peer {address_text(address.peer)}"
