"""What a snapshot says of sessions: what was not seen is not down."""

from __future__ import annotations

from collections.abc import Iterable

from control_server.peerings.schemas import SessionSeen
from shared.protocol.fleet import ProtocolState, RuntimeSnapshot, Sight

_ENDINGS = ("", "_4", "_6")


def sessions_seen(snapshot: RuntimeSnapshot | None, names: Iterable[str]) -> dict[str, SessionSeen]:
    """By the peering's name: its session, or the worse one of its two."""
    protocols: dict[str, ProtocolState] = {}
    if snapshot is not None and snapshot.routing.sight is Sight.OBSERVED:
        protocols = {protocol.name: protocol for protocol in snapshot.protocols}
    return {name: _seen(_of(protocols, name)) for name in names}


def _of(protocols: dict[str, ProtocolState], name: str) -> list[ProtocolState]:
    return [protocols[key] for ending in _ENDINGS if (key := f"rl_{name}{ending}") in protocols]


def _seen(found: list[ProtocolState]) -> SessionSeen:
    if not found:
        return SessionSeen()
    worst = min(found, key=_is_up)
    channels = [channel for protocol in found for channel in protocol.channels]
    return SessionSeen(
        state="ok" if _is_up(worst) else "down",
        word=worst.bgp_state or worst.state,
        error=worst.error,
        since=worst.since,
        imported=_sum(channel.imported for channel in channels),
        filtered=_sum(channel.filtered for channel in channels),
        exported=_sum(channel.exported for channel in channels),
    )


def _is_up(protocol: ProtocolState) -> bool:
    return (protocol.bgp_state or protocol.state).lower() in {"established", "up"}


def _sum(counts: Iterable[int | None]) -> int | None:
    """BIRD shows no count where there is none; that is not zero."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
