"""What traceroute prints, with `-n` and without, from the Debian and the busybox program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_HEAD = re.compile(r"traceroute to \S+ \(([^)\s]+)\)", re.ASCII)
_HOP = re.compile(r"\s*([0-9]{1,3})(?:\s+(.*))?", re.ASCII)
_TOKEN = re.compile(
    r"(?P<silent>\*)"
    r"|(?P<mark>!(?:[A-Z]?-?[0-9]*|<[0-9]+>))(?=\s|$)"
    r"|(?P<time>-?[0-9]{1,9}(?:\.[0-9]{1,6})?)\s?ms"
    r"|\((?P<inner>[0-9a-fA-F.:%]\S*?)\)"
    r"|\[(?P<ignored>[^]]*)\]"
    r"|(?P<word>\S+)",
    re.ASCII,
)
_GREATEST_HOP = 255


def parse_traceroute(lines: Iterable[str]) -> dict[str, Any]:
    """`{target, reached, hops: [{hop, address, rtts_ms, replies: [{address, name, rtt_ms, mark}]}]}`.

    `address` is the first that answered and null for a silent hop; `rtts_ms` has one entry a query, null
    where no answer came. `replies` says which address gave which answer, and its mark such as `!H`.
    """
    target: str | None = None
    hops: dict[int, dict[str, Any]] = {}
    for line in lines:
        if head := _HEAD.match(line):
            target = head[1]
        elif (found := _HOP.fullmatch(line)) and 0 < int(found[1]) <= _GREATEST_HOP:
            hops[int(found[1])] = _hop(int(found[1]), found[2] or "")
    path = [hops[number] for number in sorted(hops)]
    return {"target": target, "reached": _reached(path, target), "hops": path}


def _reached(path: list[dict[str, Any]], target: str | None) -> bool:
    return any(_arrived(reply, target) for hop in path for reply in hop["replies"])


def _arrived(reply: dict[str, Any], target: str | None) -> bool:
    # A host that refuses the packet has still received it.
    return reply["address"] is not None and reply["address"] == target and reply["rtt_ms"] is not None


def _hop(number: int, rest: str) -> dict[str, Any]:
    replies: list[dict[str, Any]] = []
    address: str | None = None
    name: str | None = None
    for token in _TOKEN.finditer(rest):
        if token["word"]:
            address, name = token["word"], None
        elif token["inner"]:
            address, name = token["inner"], address
        elif token["silent"]:
            replies.append({"address": None, "name": None, "rtt_ms": None, "mark": None})
        elif token["time"]:
            replies.append(
                {"address": address, "name": name, "rtt_ms": max(0.0, float(token["time"])), "mark": None}
            )
        elif token["mark"] and replies:
            replies[-1]["mark"] = token["mark"]
    answered = [reply["address"] for reply in replies if reply["address"]]
    return {
        "hop": number,
        "address": answered[0] if answered else None,
        "rtts_ms": [reply["rtt_ms"] for reply in replies] if replies else None,
        "replies": replies,
    }
