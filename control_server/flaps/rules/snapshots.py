"""A snapshot as the scores see it."""

from __future__ import annotations

from datetime import datetime
from ipaddress import ip_address

from control_server.flaps.rules.looks import SeenNode, SeenSession
from control_server.flaps.schemas import SessionState
from shared.protocol.fleet import ProtocolState, RuntimeSnapshot, Sight

_WORDS = 200


def seen_in(snapshot: RuntimeSnapshot, received_at: datetime, *, maintenance: bool) -> SeenNode | None:
    """What the snapshot says of sessions; None where BIRD was not seen, which says nothing at all."""
    if snapshot.routing.sight is not Sight.OBSERVED:
        return None
    started, precision = _started(snapshot)
    return SeenNode(
        taken_at=snapshot.taken_at.timestamp(),
        received_at=received_at.timestamp(),
        sessions=[_session(protocol) for protocol in sessions_of(snapshot)],
        started_at=started,
        started_precision=precision,
        running=snapshot.running,
        maintenance=maintenance,
    )


def sessions_of(snapshot: RuntimeSnapshot) -> list[ProtocolState]:
    """The BGP sessions of a snapshot."""
    return [protocol for protocol in snapshot.protocols if protocol.kind == "BGP"]


def target_of(snapshot: RuntimeSnapshot | None, name: str) -> str:
    """The neighbour's address, if it is known and a probe can be aimed at it."""
    protocols = snapshot.protocols if snapshot is not None else ()
    told = next((protocol.neighbor_address for protocol in protocols if protocol.name == name), "")
    try:
        address = ip_address(told)
    except ValueError:
        return ""
    # A link-local address says nothing without its interface, which a target cannot name.
    return "" if address.is_link_local else str(address)


def state_of(protocol: ProtocolState) -> SessionState:
    """How a session stands. Disabled is what BIRD calls down and has no error to tell of."""
    if protocol.bgp_state == "Established":
        return SessionState.ESTABLISHED
    if protocol.error_class == "disabled" or (protocol.state == "down" and not protocol.error):
        return SessionState.DISABLED
    if not protocol.state:
        return SessionState.UNKNOWN
    return SessionState.DOWN


def _session(protocol: ProtocolState) -> SeenSession:
    return SeenSession(
        name=protocol.name,
        state=state_of(protocol),
        since=protocol.since.timestamp() if protocol.since else None,
        precision=protocol.since_precision_seconds,
        asn=protocol.neighbor_asn,
        error=protocol.error[:_WORDS],
        error_class=protocol.error_class or "",
        updates=_updates(protocol),
    )


def _updates(protocol: ProtocolState) -> int | None:
    counts = [channel.updates_received for channel in protocol.channels]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _started(snapshot: RuntimeSnapshot) -> tuple[float | None, float]:
    """When BIRD was started: by its own word, else since when its interface scan runs."""
    if snapshot.bird_started_at is not None:
        return snapshot.bird_started_at.timestamp(), 0.0
    for protocol in snapshot.protocols:
        if protocol.kind == "Device" and protocol.since is not None:
            return protocol.since.timestamp(), protocol.since_precision_seconds
    return None, 0.0
