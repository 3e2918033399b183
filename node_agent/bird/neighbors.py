"""What `show bfd sessions` and `show ospf neighbors` say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

from node_agent.bird.framing import Reply
from node_agent.bird.times import Since, take_since

_BFD = 1020
_OSPF = 1013
_SECONDS = re.compile(r"^\d+\.\d+$")
_OSPF_FIELDS = 6


@dataclass(frozen=True, slots=True)
class BfdSession:
    """One BFD session (RFC 5880)."""

    protocol: str
    address: str
    interface: str
    state: str
    since: Since
    interval: float
    timeout: float


@dataclass(frozen=True, slots=True)
class OspfNeighbor:
    """One OSPF adjacency."""

    protocol: str
    router_id: str
    state: str
    interface: str
    address: str


def read_bfd_sessions(reply: Reply, now: datetime) -> list[BfdSession]:
    """All sessions; none where no BFD protocol is configured, which BIRD calls an error."""
    found = []
    protocol = ""
    for text in reply.texts(_BFD):
        if text.endswith(":") and " " not in text:
            protocol = text.removesuffix(":")
            continue
        fields = text.split()
        if not fields or not _is_address(fields[0]):
            continue
        address, interface, state, *rest = fields
        since, rest = take_since(rest, now)
        interval, timeout = (float(value) for value in (*rest, "0.0", "0.0")[:2] if _SECONDS.match(value))
        found.append(BfdSession(protocol, address, interface, state, since, interval, timeout))
    return found


def read_ospf_neighbors(reply: Reply) -> list[OspfNeighbor]:
    """All adjacencies of one OSPF protocol, without the note of its role (`Full/PtP` is `Full`)."""
    found = []
    protocol = ""
    for text in reply.texts(_OSPF):
        if text.endswith(":") and " " not in text:
            protocol = text.removesuffix(":")
            continue
        fields = text.split()
        if len(fields) < _OSPF_FIELDS or not _is_address(fields[0]):
            continue
        found.append(OspfNeighbor(protocol, fields[0], fields[2].split("/")[0], fields[4], fields[5]))
    return found


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
