"""What the parsers make of a sample, as JSON."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from node_agent.bird.framing import Reply, ReplyReader
from node_agent.bird.neighbors import read_bfd_sessions, read_ospf_neighbors
from node_agent.bird.protocols import read_protocols

CORPUS = Path(__file__).parent / "corpus"
NOW = datetime(2026, 2, 3, 12, 0, tzinfo=UTC)


def reply_of(name: str) -> Reply:
    """The sample's one reply."""
    replies = ReplyReader().feed((CORPUS / f"{name}.txt").read_bytes())
    assert len(replies) == 1
    return replies[0]


def reading_of(name: str) -> dict[str, Any]:
    """The closing code, and everything that was read."""
    reply = reply_of(name)
    kind = name.partition("-")[0]
    found: list[Any]
    if kind == "bfd":
        found = list(read_bfd_sessions(reply, NOW))
    elif kind == "ospf":
        found = list(read_ospf_neighbors(reply))
    else:
        found = list(read_protocols(reply, NOW))
    return {
        "code": reply.code,
        "partial": reply.partial,
        "found": [_plain(asdict(entry)) for entry in found],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    assert not is_dataclass(value)
    return value
