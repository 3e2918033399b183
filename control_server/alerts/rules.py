"""When a node is lost and when it is back, what a notification says, and how it is signed."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from control_server.alerts.schemas import Event, LinkFacts, Verdict
from shared.kernel.targets import PRESETS, Address, Network, TargetPolicy, parse_address

#: Version of the body; a field may be added to it, none is taken away or changes its meaning.
BODY_VERSION = 1
SIGNATURE_VERSION = "v1"
_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


def judge(
    facts: LinkFacts, now: datetime, watching_since: datetime, after: tuple[timedelta, timedelta]
) -> Verdict:
    """What the node's link calls for; `after`: how long a lost node is silent, and one that is back speaks.

    Between the two a node keeps the state that it has, so one that comes and goes is told of once. Silence
    counts from when the watch began, at the earliest: a server that was down heard nobody.
    """
    lost_after, back_after = after
    if facts.last_seen_at is None:
        return Verdict.GONE if facts.incident_id is not None else Verdict.NOTHING
    silent = now - max(facts.last_seen_at, watching_since) > lost_after
    if facts.incident_id is None or facts.opened_at is None:
        return Verdict.LOST if silent else Verdict.NOTHING
    heard_since = facts.last_seen_at >= facts.opened_at and now - facts.last_seen_at <= lost_after
    linked = facts.disconnected_at is None and facts.connected_at is not None
    if not heard_since or not linked:
        return Verdict.NOTHING
    speaks_since = max(facts.opened_at, facts.connected_at or facts.opened_at)
    return Verdict.BACK if now - speaks_since >= back_after else Verdict.NOTHING


def body_of(delivery_id: UUID, event: Event, at: datetime, facts: dict[str, Any]) -> str:
    """The body of a notification: compact JSON with its version first."""
    head = {"version": BODY_VERSION, "id": str(delivery_id), "event": event.value, "at": at.isoformat()}
    return json.dumps({**head, **facts}, ensure_ascii=False, separators=(",", ":"))


def signature(secret: str, timestamp: int, body: str) -> str:
    """HMAC-SHA256 over timestamp, dot and body, so that nobody can send an old request again as a new one."""
    signed = hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), hashlib.sha256)
    return f"{SIGNATURE_VERSION}={signed.hexdigest()}"


def receivers(preset: str, allow: tuple[Network, ...], *, allow_loopback: bool) -> TargetPolicy:
    """Which addresses may be called. Loopback needs its own switch, whatever else is allowed."""
    outside = tuple(network for network in allow if not _touches_loopback(network))
    return TargetPolicy(allow=(*outside, *(_LOOPBACK if allow_loopback else ())), deny=PRESETS[preset].deny)


def _touches_loopback(network: Network) -> bool:
    return any(network.version == each.version and network.overlaps(each) for each in _LOOPBACK)


def refusal_of_literal(url: str, policy: TargetPolicy) -> str | None:
    """Why the address in the URL itself may not be called; a name is judged when it is resolved."""
    try:
        address = parse_address(urlsplit(url).hostname or "")
    except ValueError:
        return None
    return refusal([address], policy)


def refusal(addresses: list[Address], policy: TargetPolicy) -> str | None:
    """Why none of these may be called; one bad address among good ones is enough."""
    for address in addresses:
        reason = policy.refusal(address)
        if reason is not None:
            return f"{address} {reason}"
    return None
