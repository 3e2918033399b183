"""What runs on the node, part by part: what is not seen is told as unseen, never as down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from node_agent.apply import daemon
from node_agent.apply.links.observing import HostLinks, InterfaceOnHost, observe_links
from node_agent.bird.client import BirdConversation, conversing
from node_agent.bird.neighbors import read_bfd_sessions, read_ospf_neighbors
from node_agent.bird.protocols import Channel
from node_agent.bird.protocols import ProtocolState as BirdProtocol
from node_agent.bird.times import take_since
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.protocol.fleet import (
    BfdState,
    ChannelState,
    InterfaceState,
    OspfState,
    Part,
    ProtocolState,
    RuntimeSnapshot,
    Sight,
    TunnelState,
)

_TOLD = 1000
_REBOOT = re.compile(r"^Last reboot on (.+)$")
_OBSERVED = Part(sight=Sight.OBSERVED)


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Looks at the host and at BIRD, each by itself."""

    socket: Path
    now: Clock

    async def take(self) -> RuntimeSnapshot:
        """One snapshot. Raises nothing of the host's making."""
        seen = await self._links()
        return (await self._routing()).model_copy(update=seen)

    async def _links(self) -> dict[str, object]:
        try:
            links = await observe_links()
        except AppError as error:
            return {"links": Part(sight=Sight.UNAVAILABLE, reason=error.detail[:_TOLD])}
        return {"links": _OBSERVED, "interfaces": _interfaces(links), "tunnels": _tunnels(links)}

    async def _routing(self) -> RuntimeSnapshot:
        taken_at = self.now()
        try:
            async with conversing(self.socket, restricted=True) as conversation:
                running = await daemon.look(conversation)
                found = await daemon.protocols(conversation, self.now)
                return RuntimeSnapshot(
                    taken_at=taken_at,
                    bird_version=str(running.version),
                    bird_started_at=await self._started_at(conversation),
                    running=running.identity,
                    routing=_OBSERVED,
                    protocols=tuple(map(_protocol, found)),
                    bfd=await self._bfd(conversation),
                    ospf=await self._ospf(conversation, found),
                )
        except AppError as error:
            unseen = Part(sight=Sight.UNAVAILABLE, reason=error.detail[:_TOLD])
            return RuntimeSnapshot(taken_at=taken_at, routing=unseen)

    async def _started_at(self, conversation: BirdConversation) -> datetime | None:
        reply = await conversation.ask("show status")
        for line in reply.lines:
            if (found := _REBOOT.match(line.text.strip())) is not None:
                since, _ = take_since(found[1].split(), daemon.local_time(self.now))
                return since.instant
        return None

    async def _bfd(self, conversation: BirdConversation) -> tuple[BfdState, ...]:
        found = read_bfd_sessions(await conversation.ask("show bfd sessions"), daemon.local_time(self.now))
        return tuple(BfdState(address=s.address, interface=s.interface, state=s.state) for s in found)

    async def _ospf(
        self, conversation: BirdConversation, protocols: Sequence[BirdProtocol]
    ) -> tuple[OspfState, ...]:
        found: list[OspfState] = []
        for protocol in protocols:
            if protocol.kind == "OSPF" and protocol.state == "up":
                reply = await conversation.ask(f"show ospf neighbors {protocol.name}")
                found += (
                    OspfState(
                        protocol=n.protocol, router_id=n.router_id, state=n.state, interface=n.interface
                    )
                    for n in read_ospf_neighbors(reply)
                )
        return tuple(found)


def _interfaces(links: HostLinks) -> tuple[InterfaceState, ...]:
    return tuple(
        InterfaceState(
            name=there.name,
            kind=there.kind,
            up=there.up,
            mtu=there.mtu,
            addresses=tuple(sorted(address.text for address in there.addresses)),
        )
        for there in sorted(links.by_name.values(), key=lambda entry: entry.name)
    )


def _tunnels(links: HostLinks) -> tuple[TunnelState, ...]:
    ordered = sorted(links.by_name.values(), key=lambda entry: entry.name)
    return tuple(tunnel for there in ordered for tunnel in _tunnels_of(there))


def _tunnels_of(there: InterfaceOnHost) -> list[TunnelState]:
    if there.wireguard is None:
        return []
    return [
        TunnelState(
            interface=there.name,
            peer_public_key=peer.public_key,
            listen_port=there.wireguard.listen_port,
            endpoint=peer.endpoint,
            latest_handshake=peer.latest_handshake,
            received_bytes=peer.received_bytes,
            sent_bytes=peer.sent_bytes,
            keepalive=peer.keepalive,
        )
        for peer in there.wireguard.peers
    ]


def _protocol(seen: BirdProtocol) -> ProtocolState:
    asn = None
    with suppress(ValueError):
        asn = int(seen.details.get("neighbor as", ""))
    return ProtocolState(
        name=seen.name[:128],
        kind=seen.kind[:128],
        state=seen.state[:128],
        info=seen.info[:_TOLD],
        since=seen.since.instant,
        since_precision_seconds=seen.since.precision.total_seconds(),
        bgp_state=seen.bgp_state,
        error=seen.error[:_TOLD],
        error_class=seen.error_class,
        neighbor_address=seen.details.get("neighbor address", "").partition(" ")[0][:128],
        neighbor_asn=asn,
        channels=tuple(map(_channel, seen.channels)),
    )


def _channel(seen: Channel) -> ChannelState:
    return ChannelState(
        name=seen.name[:128],
        state=seen.state[:128],
        imported=seen.imported,
        filtered=seen.filtered,
        exported=seen.exported,
        preferred=seen.preferred,
        limit_hit=any(limit.hit for limit in seen.limits.values()),
        updates_received=seen.changes.get("import updates", {}).get("received"),
    )
